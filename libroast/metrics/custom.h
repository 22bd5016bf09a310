#pragma once
/*
 * Metrics that users registered
 *
 * They are facts of the run: metric.KEY is the value, or absent with a reason;
 * metric.KEY.title, .unit and .better say what it is. A KEY has no dot.
 */

#include "roast-metrics.h"
#include "roast-run.h"

void custom_deinit(struct roast_custom *custom);
/* The metric with that key, new if there was none; NULL: no memory. */
struct roast_custom *custom_of(struct roast_summary *summary, const char *key, size_t len);
/* A fact behind "metric."; 0 or ROAST_E_NOMEM. */
int custom_note(struct roast_summary *summary, const char *name, const struct roast_fact *fact);
/* Drops what has no value, neither known nor absent, and sorts by key. */
void custom_end(struct roast_summary *summary);
