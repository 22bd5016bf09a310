#pragma once
/* What the sources of the page's data share while they are put together */

#include "report/pack.h"
#include "roast-compare.h"
#include "roast-metrics.h"
#include "roast-show.h"
#include "run/attempts.h"

/* Strings of the run that the page names: numbered in the order in which they are first used */
struct report_names {
        uint32_t *slots; /* by text id: number + 1; slots[0] stands for "no name" */
        uint32_t *texts; /* by number: the text id */
        size_t n;
        size_t cap;
};

struct report {
        struct roast_run *run;
        const struct roast_summary *summary;
        struct pack *pack;
        struct intern texts; /* of the run: id - 1 */
        struct report_names workers;
        struct report_names datasets;
        struct report_names files;
        int64_t zero_utc_ns; /* where the page's time begins */
        int64_t end_utc_ns;  /* and where it ends */
        double interval_s;   /* between two samples of a worker */
};

/* The number of a text id (0: no name), a new one if need be; negative: no memory. */
int64_t report_name(struct report *report, struct report_names *names, int64_t text_id);
void report_names_deinit(struct report_names *names);
/* "key": ["...", null, ...] */
void report_put_names(struct report *report, const char *key, const struct report_names *names);
/* The string of a text id, or null */
void report_put_text(struct report *report, int64_t text_id);

/* An attempt at a chunk, as the page draws it; INT64_MIN: not known */
struct report_chunk {
        size_t order; /* in which they came */
        int64_t start_utc_ns;
        int64_t wall_ns;
        int64_t events;
        int64_t entry_start;
        int64_t entry_stop;
        int64_t error_type; /* text ids, and so the message */
        int64_t error_message;
        int64_t attempt;
        uint32_t worker; /* numbers of names */
        uint32_t dataset;
        uint32_t file;
        uint8_t outcome;
        uint8_t lane; /* of those that the worker had at the same time */
};

struct report_chunks {
        struct report_chunk *rows; /* by worker, then by start */
        size_t n;
        size_t cap;
        int64_t *amounts; /* by order: those that the page shows of each chunk */
        size_t amounts_cap;
        uint32_t *dataset_of; /* by id of table chunk: number + 1, 0: not a chunk */
        size_t n_ids;
};

/* Takes an attempt; report_chunks_sort() comes when there are no more. */
int report_chunks_add(struct report_chunks *chunks, struct report *report,
                      const struct run_attempt *attempt);
int report_chunks_sort(struct report_chunks *chunks, const struct report *report);
void report_chunks_deinit(struct report_chunks *chunks);
/* The columns of the chunks, and their errors */
int report_chunks_put(const struct report_chunks *chunks, struct report *report,
                      struct roast_error *error);

/* Own time of each section, by dataset */
struct report_sections {
        struct report_names names;
        double *own_s; /* by dataset, then by section: room for cap sections each */
        size_t n_datasets;
        size_t cap;
};

/* Takes a row of table section, when all chunks are known */
int report_sections_add(struct report_sections *times, struct report *report,
                        const struct report_chunks *chunks, const struct run_value *values);
void report_sections_deinit(struct report_sections *times);
int report_sections_put(const struct report_sections *times, const struct report_chunks *chunks,
                        struct report *report, struct roast_error *error);

/* What happened over time: the cluster as a whole, and each worker */
int report_series_put(const struct report_chunks *chunks, struct report *report,
                      struct roast_error *error);

/* The run itself, key figures, tables */
int report_words_put(struct report *report, struct roast_error *error);

/* Its pieces, which a page of several runs has too: key figures as an array, a table, JSON as it
 * was written elsewhere */
void report_put_figures(struct json *json, const struct roast_metric_set *set);
void report_put_table(struct json *json, const struct roast_table *table);
void report_put_json(struct json *json, const char *key, const char *text);
/* The data of a page of several runs */
int report_comparison_data(void **data, size_t *len, const struct roast_comparison *comparison,
                           struct roast_error *error);

/* Packed as the page expects it: a zlib stream */
int report_deflate(struct buf *out, const void *data, size_t len);
/* The page without data: it asks the server it came from for them. */
int report_empty_page(struct buf *out);

/* The page as it is built, in two parts: the data stand between them. */
extern const unsigned char report_page_head[];
extern const size_t report_page_head_len;
extern const unsigned char report_page_tail[];
extern const size_t report_page_tail_len;
