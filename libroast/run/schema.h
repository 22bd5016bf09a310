#pragma once
/* The tables of a run file, as data: docs/format.md is the definition. */

#include <stdbool.h>
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
        RUN_TASK = 9,
        RUN_ACTIVITY = 10,
        RUN_N_TABLES
};

struct run_table_info {
        const char *name;
        const char *columns; /* after id, separated by commas */
        size_t n_columns;    /* without id */
        int since;           /* minor version of the format: in an older file it may be missing */
        bool large;          /* rows come with the chunks: they are read as in pages.h */
};

enum task_column {
#define STRING(id, name) TASK_##id,
#define TEXT(id, name)   TASK_##id,
#define INT(id, name)    TASK_##id,
#include "run/task.def"
#undef STRING
#undef TEXT
#undef INT
        TASK_N_COLUMNS
};

extern const struct run_table_info run_tables[RUN_N_TABLES];

struct run_view_info {
        const char *name;
        const char *select;
};

enum { RUN_N_VIEWS = 7 };

extern const struct run_view_info run_views[RUN_N_VIEWS];
