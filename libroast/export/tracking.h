#pragma once
/*
 * The documented series of the workers: ten keys, each by worker
 *
 * Samples are those that were taken, each with its own time; the number of
 * workers is told at the instants of the sampling interval.
 */

#include "export/export.h"

enum tracking_form {
        TRACKING_OBJECTS, /* [{"timestamp": ..., "memory_bytes": ...}], as the metrics reference */
        TRACKING_PAIRS,   /* [[time, value]], as in metrics.json; counts as {time: number} */
};

/* Writes an object into out->json, step by step. */
int tracking_put(struct roast_run *run, enum tracking_form form, struct out *out,
                 struct roast_error *error);

/* "2026-11-15T19:52:52.098000", in UTC, without an offset, as Python's isoformat() */
void tracking_time(char text[32], int64_t utc_ns);
