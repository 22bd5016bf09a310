#pragma once
/*
 * A run to test with: two datasets, three workers of which one goes early,
 * sections, branches, spans, coffea's report. The same on every machine.
 */

#include "record/chunk.h"
#include "roast-metrics.h"
#include "roast-run.h"

/* When the sample began; it took 10 s. */
#define SAMPLE_START_UTC_NS INT64_C(1794772988000000000)
#define SAMPLE_S            INT64_C(1000000000)

/* xorshift64*: the same sequence on every machine */
uint64_t sample_random(uint64_t *seed);
/* A number from 0 to limit - 1 */
uint64_t sample_below(uint64_t *seed, uint64_t limit);

/* A text of the chunk that was added last; NULL: not known. */
int sample_set_text(struct chunk_table *table, enum chunk_field field, const char *text);
/* A section of that chunk, which ran once. */
int sample_add_section(struct chunk_table *table, const char *name, int64_t ns);

/* Appends n chunks; each tenth one failed. */
int sample_chunks(struct chunk_table *table, size_t n);
/* The encoded chunks go into the run. */
int sample_add_chunks(struct roast_run *run, size_t n, struct roast_error *error);
/* The tasks that ran those chunks, and a merging one for each ten of them. */
int sample_add_tasks(struct roast_run *run, size_t n, struct roast_error *error);
/* Each fills a part of a run, without commit. */
int sample_begin(struct roast_run *run, struct roast_error *error);
int sample_end(struct roast_run *run, struct roast_error *error);
/* All of it, committed. */
int sample_fill(struct roast_run *run, size_t n_chunks, struct roast_error *error);

/* Every figure of a summary as text, to the last bit; the caller frees. NULL: no memory. */
char *sample_dump(const struct roast_summary *summary);
/* The same of a run; NULL with the error set if there is none. */
char *sample_summary(struct roast_run *run, struct roast_error *error);

/* Frees a run as its scope ends: ROAST_CLEANUP(sample_freep) struct roast_run *run = NULL; */
void sample_freep(struct roast_run **run);
