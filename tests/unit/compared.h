#pragma once
/* Runs of groups, in memory, and what their comparison says */

#include "roast-compare.h"
#include "roast-run.h"

#define COMPARED_MAX 4

struct compared {
        struct roast_run *runs[COMPARED_MAX];
        size_t groups[COMPARED_MAX];
        size_t n;
        struct roast_comparison comparison;
};

/* A run that has only its times */
struct roast_run *add_run(struct compared *compared, size_t group);
void add_worker(struct roast_run *run, const char *name, const char *host);
/* All of the runs, also once more */
void compare(struct compared *compared);
void compared_deinit(struct compared *compared);
