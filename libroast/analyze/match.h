#pragma once
/*
 * The same units in several runs
 *
 * Chunks are the same by file, tree and entries; a file is the same by its
 * uuid where every run has one for each of its files, else by its name. Units
 * that came twice in a run count once.
 */

#include "analyze/costs.h"

struct match {
        size_t n;         /* units that all runs have */
        uint32_t **index; /* [run][i]: the unit in that run */
        size_t n_runs;
};

/* Matches by file and entries; with `whole_files` by file alone. */
int match_units(struct match *match, const struct costs *const *runs, size_t n_runs,
                bool whole_files);
void match_deinit(struct match *match);
/* How many files of a are in b too */
int match_count_files(const struct costs *a, const struct costs *b, size_t *common);
