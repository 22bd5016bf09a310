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

const struct run_table_info run_tables[RUN_N_TABLES] = {
        [RUN_TEXT] = { "text", "value", 1 },
        [RUN_FACT] = { "fact", "name,value,reason", 3 },
        [RUN_WORKER_EVENT] = { "worker_event",
                               "utc_ns,worker_text,kind,host_text,pid,threads,memory_limit_bytes",
                               7 },
        [RUN_SERIES] = { "series", "worker_text,columns_text,start_utc_ns,stop_utc_ns,rows,block",
                         6 },
        [RUN_SPAN] = { "span", "kind,prefix,activity,unit,value", 5 },
        [RUN_CHUNK] = { "chunk", chunk_columns + 1, CHUNK_N_FIELDS },
        [RUN_SECTION] = { "section", section_columns, 2 + SECTION_N_FIELDS },
        [RUN_BRANCH] = { "branch", "chunk_id,name_text,bytes", 3 },
};

/* A text column by its value; an integer column as it is */
#define VIEW_TEXT(name) ",(SELECT value FROM text WHERE id=" #name "_text) AS " #name

const char run_schema_views[] =
        "CREATE VIEW facts AS SELECT name,value,reason FROM fact WHERE id IN"
        " (SELECT max(id) FROM fact GROUP BY name);"
        "CREATE VIEW worker_events AS SELECT id,utc_ns,utc_ns/1e9 AS utc_s" VIEW_TEXT(
                worker) ",kind" VIEW_TEXT(host) ",pid,threads,memory_limit_bytes FROM worker_event;"
                                                "CREATE VIEW chunks AS SELECT id,wall_ns/1e9 AS "
                                                "wall_s,cpu_ns/1e9 AS cpu_s"
#define TEXT(id, name) VIEW_TEXT(name)
#define BLOB(id, name) "," #name
#define INT(id, name)  "," #name
#include "record/fields.def"
#undef TEXT
#undef BLOB
#undef INT
                                                " FROM chunk;"
                                                "CREATE VIEW sections AS SELECT "
                                                "id,chunk_id" VIEW_TEXT(
                                                        name) ",total_ns/1e9 AS total_s"
#define SECTION(id, name) "," #name
#include "record/fields.def"
#undef SECTION
                                                              " FROM section;"
                                                              "CREATE VIEW branches AS SELECT "
                                                              "id,chunk_id" VIEW_TEXT(
                                                                      name) ",bytes FROM branch;";
