#pragma once
/*
 * Attempts that ended without a result, in groups
 *
 * Attempts belong together if they ended alike: the same outcome, the same type
 * of error, and the same message but for the numbers in it, which name entries,
 * ports and sizes.
 */

#include "metrics/bytes.h"

struct failure_note; /* an attempt whose fate is not known before the walk has ended */

struct failures {
        struct collect *collect;
        struct failure_note *notes;
        size_t n_notes, cap_notes;
        uint64_t *keys; /* of the groups, as many as the summary has failures */
        size_t cap;
};

/* A chunk's row of the run that has not finished, and its bytes_key(); 0 or ROAST_E_NOMEM. */
int failures_add(struct failures *failures, const struct run_value *values, int64_t outcome,
                 uint64_t chunk);
/* When all attempts have been walked over: which chunks finished after all; sorts. */
void failures_end(struct failures *failures, const struct byte_walk *walk);
void failures_deinit(struct failures *failures);
