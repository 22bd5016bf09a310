#pragma once
/* The tables of a run file, as data: docs/format.md is the definition. */

#include <stdbool.h>
#include <stddef.h>

#include "roast-run.h"

#define RUN_APPLICATION_ID 0x524F5354 /* "ROST" */
#define RUN_MAJOR          1
#define RUN_MINOR          2
#define RUN_USER_VERSION   (RUN_MAJOR * 1000 + RUN_MINOR)

enum run_table {
#define TABLE(id, number, ...) RUN_##id = (number),
#include "run/tables.def"
#undef TABLE
        RUN_N_TABLES
};

struct run_table_info {
        const char *name;
        const char *row;     /* what a row is */
        const char *columns; /* after id, separated by commas */
        size_t n_columns;    /* without id */
        int since;           /* minor version of the format: in an older file it may be missing */
        bool large;          /* rows come with the chunks: they are read as in pages.h */
        const struct roast_column_info *infos;
};

extern const struct run_table_info run_tables[RUN_N_TABLES];

/* The columns of each table behind id: places in a row. Those of chunks are enum chunk_field. */

enum text_column {
#define TEXT_TABLE(id, ...) TEXT_##id,
#include "run/tables.def"
#undef TEXT_TABLE
        TEXT_N_COLUMNS
};

enum fact_column {
#define FACT(id, ...) FACT_##id,
#include "run/tables.def"
#undef FACT
        FACT_N_COLUMNS
};

enum worker_event_column {
#define WORKER_EVENT(id, ...) WORKER_EVENT_##id,
#include "run/tables.def"
#undef WORKER_EVENT
        WORKER_EVENT_N_COLUMNS
};

enum series_table_column {
#define SERIES(id, ...) SERIES_##id,
#include "run/tables.def"
#undef SERIES
        SERIES_N_COLUMNS
};

enum span_column {
#define SPAN(id, ...) SPAN_##id,
#include "run/tables.def"
#undef SPAN
        SPAN_N_COLUMNS
};

/* Of both tables of parts: which chunk they belong to, and their name */
enum part_column {
#define PART(id, ...) PART_##id,
#include "record/fields.def"
#undef PART
        PART_N_COLUMNS
};

/* Not enum section_field: the columns of a part come first */
enum section_column {
        SECTION_COLUMN_BEFORE = PART_N_COLUMNS - 1,
#define SECTION(id, ...) SECTION_COLUMN_##id,
#include "record/fields.def"
#undef SECTION
        SECTION_N_COLUMNS
};

enum branch_column {
        BRANCH_COLUMN_BEFORE = PART_N_COLUMNS - 1,
#define BRANCH(id, ...) BRANCH_##id,
#include "record/fields.def"
#undef BRANCH
        BRANCH_N_COLUMNS
};

enum task_column {
#define TASK(id, ...) TASK_##id,
#include "run/task.def"
#undef TASK
        TASK_N_COLUMNS
};

enum activity_column {
#define ACTIVITY(id, ...) ACTIVITY_##id,
#include "run/tables.def"
#undef ACTIVITY
        ACTIVITY_N_COLUMNS
};

enum sample_column {
#define SAMPLE(id, ...) SAMPLE_##id,
#include "run/tables.def"
#undef SAMPLE
        SAMPLE_N_COLUMNS
};

/* A table with the strings in place of their numbers, and seconds next to nanoseconds */
struct run_view_info {
        const char *name;
        enum run_table table;
        const char *where;
};

enum { RUN_N_VIEWS = 8 };

extern const struct run_view_info run_views[RUN_N_VIEWS];
