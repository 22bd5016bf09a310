#pragma once
/* The tables of a run file, as data: docs/format.md is the definition. */

#include <stddef.h>

#define RUN_APPLICATION_ID 0x524F5354 /* "ROST" */
#define RUN_MAJOR          1
#define RUN_MINOR          1
#define RUN_USER_VERSION   (RUN_MAJOR * 1000 + RUN_MINOR)

enum run_table {
        RUN_TEXT = 1,
        RUN_FACT = 2,
        RUN_WORKER_EVENT = 3,
        RUN_SERIES = 4,
        RUN_SPAN = 5,
        RUN_CHUNK = 6,
        RUN_SECTION = 7,
        RUN_BRANCH = 8,
        RUN_N_TABLES
};

struct run_table_info {
        const char *name;
        const char *columns; /* after id, separated by commas */
        size_t n_columns;    /* without id */
};

extern const struct run_table_info run_tables[RUN_N_TABLES];
extern const char run_schema_views[];
