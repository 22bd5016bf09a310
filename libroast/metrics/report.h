#pragma once
/*
 * coffea's report, and the figures by dataset that users give in its place
 *
 * A figure is usable if it is a number, finite and not negative; any other is
 * absent, for that reason.
 */

#include "metrics/stat.h"
#include "roast-metrics.h"
#include "roast-run.h"

struct report_field {
        const char *name;
        enum roast_metric metric;
};

enum { REPORT_N_FIELDS = 4 };

extern const struct report_field report_fields[REPORT_N_FIELDS];

/* Sums over datasets; they replace the report's, and what no dataset tells is absent. */
struct report_custom {
        bool given;
        struct stat_total entries;
        struct stat_total bytes;
        struct stat_total duration_s;
};

/* Each returns 0 or ROAST_E_NOMEM. */

/* Says of figures that no fact is about why they are absent. */
int report_begin(struct roast_metric_set *set);
/* A figure of the report; a field that is not used is passed over. The fact's name does not matter.
 */
int report_note(struct roast_metric_set *set, const char *field, const struct roast_fact *fact);
/* The figures were derived in some way: they are estimated. Called before report_end(). */
int report_set_derived(struct roast_metric_set *set, const char *how);
/* When all is noted: the custom sums, and the process time by the report's number of chunks. */
int report_end(struct roast_metric_set *set, const struct report_custom *custom);

void report_custom_note(struct stat_total *total, const struct roast_fact *fact);

/*
 * What the documented dicts hold where a report tells of events or bytes, but not of the process
 * time: the elapsed time. Called before report_end().
 */
int report_assume_process_time(struct roast_metric_set *set);
