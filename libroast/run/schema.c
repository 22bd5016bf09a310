/* The tables and views of a run file; the columns of chunks come from fields.def. */

#include "run/schema.h"
#include "record/chunk.h"

static const char chunk_columns[] =
#define TEXT(id, name) "," #name "_text"
#define BLOB(id, name) "," #name
#define INT(id, name)  "," #name
#include "record/fields.def"
#undef TEXT
#undef BLOB
#undef INT
        ;

static const char section_columns[] = "chunk_id,name_text"
#define SECTION(id, name) "," #name
#include "record/fields.def"
#undef SECTION
        ;

static const char task_columns[] =
#define STRING(id, name) "," #name
#define TEXT(id, name)   "," #name "_text"
#define INT(id, name)    "," #name
#include "run/task.def"
#undef STRING
#undef TEXT
#undef INT
        ;

const struct run_table_info run_tables[RUN_N_TABLES] = {
        [RUN_TEXT] = { "text", "value", 1, 0, false },
        [RUN_FACT] = { "fact", "name,value,reason", 3, 0, false },
        [RUN_WORKER_EVENT] = { "worker_event",
                               "utc_ns,worker_text,kind,host_text,pid,threads,memory_limit_bytes",
                               7, 0, false },
        [RUN_SERIES] = { "series", "worker_text,columns_text,start_utc_ns,stop_utc_ns,rows,block",
                         6, 0, false },
        [RUN_SPAN] = { "span", "kind,prefix,activity,unit,value", 5, 0, false },
        [RUN_CHUNK] = { "chunk", chunk_columns + 1, CHUNK_N_FIELDS, 0, true },
        [RUN_SECTION] = { "section", section_columns, 2 + SECTION_N_FIELDS, 0, true },
        [RUN_BRANCH] = { "branch", "chunk_id,name_text,bytes", 3, 0, true },
        [RUN_TASK] = { "task", task_columns + 1, TASK_N_COLUMNS, 1, true },
        [RUN_ACTIVITY] = { "activity",
                           "worker_text,kind_text,prefix_text,activity_text,unit_text,value", 6, 1,
                           false },
};

/* A text column by its value; an integer column as it is */
#define VIEW_TEXT(name) ",(SELECT value FROM text WHERE id=" #name "_text) AS " #name
#define VIEW_INT(name)  "," #name

static const char facts_view[] = "SELECT name,value,reason FROM fact WHERE id IN"
                                 " (SELECT max(id) FROM fact GROUP BY name)";

static const char worker_events_view[] = "SELECT id,utc_ns,utc_ns/1e9 AS utc_s" VIEW_TEXT(
        worker) ",kind" VIEW_TEXT(host) ",pid,threads,memory_limit_bytes FROM worker_event";

static const char chunks_view[] = "SELECT id,wall_ns/1e9 AS wall_s,cpu_ns/1e9 AS cpu_s"
#define TEXT(id, name) VIEW_TEXT(name)
#define BLOB(id, name) VIEW_INT(name)
#define INT(id, name)  VIEW_INT(name)
#include "record/fields.def"
#undef TEXT
#undef BLOB
#undef INT
                                  " FROM chunk";

static const char sections_view[] = "SELECT id,chunk_id" VIEW_TEXT(name) ",total_ns/1e9 AS total_s"
#define SECTION(id, name) VIEW_INT(name)
#include "record/fields.def"
#undef SECTION
                                                                         " FROM section";

static const char branches_view[] = "SELECT id,chunk_id" VIEW_TEXT(name) ",bytes FROM branch";

static const char tasks_view[] = "SELECT id,compute_ns/1e9 AS compute_s"
#define STRING(id, name) VIEW_INT(name)
#define TEXT(id, name)   VIEW_TEXT(name)
#define INT(id, name)    VIEW_INT(name)
#include "run/task.def"
#undef STRING
#undef TEXT
#undef INT
                                 " FROM task";

static const char activities_view[] = "SELECT id" VIEW_TEXT(worker) VIEW_TEXT(kind)
        VIEW_TEXT(prefix) VIEW_TEXT(activity) VIEW_TEXT(unit) ",value FROM activity";

const struct run_view_info run_views[RUN_N_VIEWS] = {
        { "facts", facts_view },           { "worker_events", worker_events_view },
        { "chunks", chunks_view },         { "sections", sections_view },
        { "branches", branches_view },     { "tasks", tasks_view },
        { "activities", activities_view },
};
