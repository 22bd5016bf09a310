#pragma once
/* Runs in memory that are summed up, and what came of them */

#include "roast-metrics.h"
#include "sample.h"

#define UTC SAMPLE_START_UTC_NS
#define S   SAMPLE_S

void assert_near(double value, double expected);
struct roast_run *new_run(void);
/* Ten seconds from UTC on */
struct roast_run *new_timed_run(void);
/* All of a table goes into the run. */
void add_table(struct roast_run *run, const struct chunk_table *table);
void summarize(struct roast_summary *summary, struct roast_run *run);
double known(const struct roast_summary *summary, enum roast_metric metric);
void assert_absent(const struct roast_summary *summary, enum roast_metric metric,
                   const char *reason);
