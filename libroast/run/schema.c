/* The tables and views of a run file, from the lists of their columns */

#include "run/schema.h"
#include "util/size.h"

/* How a column is stored: a text by its number */
#define STORED_INT(name)    #name
#define STORED_REAL(name)   #name
#define STORED_STRING(name) #name
#define STORED_BLOB(name)   #name
#define STORED_ANY(name)    #name
#define STORED_TEXT(name)   #name "_text"

#define COLUMN_NAME(id, name, type, ...) "," STORED_##type(name)
#define COLUMN_INFO(id, name, type, unit, since, title, meaning)                                   \
        { #name, STORED_##type(name), ROAST_COLUMN_##type, #unit, since, title, meaning },

static const char text_columns[] =
#define TEXT_TABLE COLUMN_NAME
#include "run/tables.def"
#undef TEXT_TABLE
        ;

static const struct roast_column_info text_infos[] = {
#define TEXT_TABLE COLUMN_INFO
#include "run/tables.def"
#undef TEXT_TABLE
};

static const char fact_columns[] =
#define FACT COLUMN_NAME
#include "run/tables.def"
#undef FACT
        ;

static const struct roast_column_info fact_infos[] = {
#define FACT COLUMN_INFO
#include "run/tables.def"
#undef FACT
};

static const char worker_event_columns[] =
#define WORKER_EVENT COLUMN_NAME
#include "run/tables.def"
#undef WORKER_EVENT
        ;

static const struct roast_column_info worker_event_infos[] = {
#define WORKER_EVENT COLUMN_INFO
#include "run/tables.def"
#undef WORKER_EVENT
};

static const char series_columns[] =
#define SERIES COLUMN_NAME
#include "run/tables.def"
#undef SERIES
        ;

static const struct roast_column_info series_infos[] = {
#define SERIES COLUMN_INFO
#include "run/tables.def"
#undef SERIES
};

static const char span_columns[] =
#define SPAN COLUMN_NAME
#include "run/tables.def"
#undef SPAN
        ;

static const struct roast_column_info span_infos[] = {
#define SPAN COLUMN_INFO
#include "run/tables.def"
#undef SPAN
};

static const char chunk_columns[] =
#define CHUNK COLUMN_NAME
#include "record/fields.def"
#undef CHUNK
        ;

static const struct roast_column_info chunk_infos[] = {
#define CHUNK COLUMN_INFO
#include "record/fields.def"
#undef CHUNK
};

static const char section_columns[] =
#define PART COLUMN_NAME
#include "record/fields.def"
#undef PART
#define SECTION COLUMN_NAME
#include "record/fields.def"
#undef SECTION
        ;

static const struct roast_column_info section_infos[] = {
#define PART COLUMN_INFO
#include "record/fields.def"
#undef PART
#define SECTION COLUMN_INFO
#include "record/fields.def"
#undef SECTION
};

static const char branch_columns[] =
#define PART COLUMN_NAME
#include "record/fields.def"
#undef PART
#define BRANCH COLUMN_NAME
#include "record/fields.def"
#undef BRANCH
        ;

static const struct roast_column_info branch_infos[] = {
#define PART COLUMN_INFO
#include "record/fields.def"
#undef PART
#define BRANCH COLUMN_INFO
#include "record/fields.def"
#undef BRANCH
};

static const char task_columns[] =
#define TASK COLUMN_NAME
#include "run/task.def"
#undef TASK
        ;

static const struct roast_column_info task_infos[] = {
#define TASK COLUMN_INFO
#include "run/task.def"
#undef TASK
};

static const char activity_columns[] =
#define ACTIVITY COLUMN_NAME
#include "run/tables.def"
#undef ACTIVITY
        ;

static const struct roast_column_info activity_infos[] = {
#define ACTIVITY COLUMN_INFO
#include "run/tables.def"
#undef ACTIVITY
};

static const char sample_columns[] =
#define SAMPLE COLUMN_NAME
#include "run/tables.def"
#undef SAMPLE
        ;

static const struct roast_column_info sample_infos[] = {
#define SAMPLE COLUMN_INFO
#include "run/tables.def"
#undef SAMPLE
};

const struct run_table_info run_tables[RUN_N_TABLES] = {
#define TABLE(id, number, table, since, large, row)                                                \
        [number] = { #table, row,   table##_columns + 1, ROAST_ARRAY_SIZE(table##_infos),          \
                     since,  large, table##_infos },
#include "run/tables.def"
#undef TABLE
};

const struct run_view_info run_views[RUN_N_VIEWS] = {
        { "facts", RUN_FACT, " WHERE id IN (SELECT max(id) FROM fact GROUP BY name)" },
        { "worker_events", RUN_WORKER_EVENT, "" },
        { "chunks", RUN_CHUNK, "" },
        { "sections", RUN_SECTION, "" },
        { "branches", RUN_BRANCH, "" },
        { "tasks", RUN_TASK, "" },
        { "activities", RUN_ACTIVITY, "" },
        { "samples", RUN_SAMPLE, "" },
};
