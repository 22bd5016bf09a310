#pragma once
/*
 * TaskVine's logs
 *
 * A manager writes `transactions` (what happened to workers and tasks, line by
 * line) and `taskgraph` (which task makes which file) into vine-logs/. Both may
 * be of a run that still goes on, or be cut in mid line. Times are microseconds
 * of the manager's clock. What a line does not say as expected is skipped and
 * counted.
 */

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "roast-run.h"
#include "util/intern.h"

#define VINE_LINE_MAX (1 << 16)

/*
 * Recovery: when a worker takes results with it that are still needed, the manager makes the same
 * files again by new tasks.
 */
struct vine_product {
        int64_t task;
        int64_t file; /* number in files */
};

struct vine_graph {
        struct intern files;
        struct vine_product *products; /* by task, after vine_graph_read() */
        size_t n;
        size_t cap;
        int64_t *makers; /* the first task that made each file */
};

int vine_graph_read(struct vine_graph *graph, FILE *in, struct roast_error *error);
void vine_graph_deinit(struct vine_graph *graph);
/* The task whose work this one does again, or the task itself */
int64_t vine_graph_origin(const struct vine_graph *graph, int64_t task);

/* Reads `transactions` into the run. */
int vine_transactions_read(struct roast_run *run, FILE *in, const struct vine_graph *graph,
                           struct roast_error *error);

/* The next line without its end; longer ones are cut. 0: there is none. */
size_t vine_line(FILE *in, char line[static VINE_LINE_MAX]);
/* The next word, ended by a NUL in place; "" at the end */
char *vine_word(char **at);
/* A whole number that is not negative, or -1 */
int64_t vine_number(const char *word);
