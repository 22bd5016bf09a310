/*
 * Comparing runs: reads them, finds what is the same in them, asks for the rows
 *
 * Runs are read at the same time, one thread each up to the number of cores:
 * reading is nearly all that a comparison costs.
 */

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/compare.h"
#include "analyze/statistics.h"
#include "util/cleanup.h"

#define READERS_MAX 8
#define ALPHA       0.05
/* Units are matched if so much of the smaller run is in the other. */
#define MATCH_SHARE 0.5
/* Fewer files than this are no sample: then chunks are compared, unmatched. */
#define FILES_MIN 8

const char *const roast_verdict_names[] = { "~", "better", "worse", "changed" };

struct readers {
        struct compare_run *runs;
        size_t n;
        atomic_size_t next;
        pthread_mutex_t mutex;
        int result;
        struct roast_error *error; /* of the first that failed */
};

/* The share of the chunks' wall time in which they could have run, and had no core */
static double compare_waiting_share(const struct costs *costs)
{
        double wall = 0, wait = 0;

        for (size_t i = 0; i < costs->n; i++) {
                double queue = (double)costs->measures[COST_RUNQUEUE][i];
                double throttled = (double)costs->measures[COST_THROTTLED][i];

                if (isnan(queue))
                        continue;
                wall += (double)costs->measures[COST_WALL][i];
                wait += queue + (isnan(throttled) ? 0 : throttled);
        }
        return wall > 0 ? fmin(wait / wall, 0.99) : (double)NAN;
}

static void *compare_reader(void *context)
{
        struct readers *readers = context;
        size_t i;

        while ((i = atomic_fetch_add(&readers->next, 1)) < readers->n) {
                struct compare_run *run = &readers->runs[i];
                struct roast_error error = { 0 };
                int r = costs_read(&run->chunks, &run->summary, run->run, &error);

                run->waiting = compare_waiting_share(&run->chunks);
                pthread_mutex_lock(&readers->mutex);
                if (r < 0 && readers->result >= 0) {
                        readers->result = r;
                        if (readers->error)
                                *readers->error = error;
                }
                pthread_mutex_unlock(&readers->mutex);
        }
        return NULL;
}

static int compare_read_all(struct compare_run *runs, size_t n, struct roast_error *error)
{
        struct readers readers = { .runs = runs, .n = n, .error = error };
        long cores = sysconf(_SC_NPROCESSORS_ONLN);
        pthread_t threads[READERS_MAX];
        size_t n_threads = 0;

        pthread_mutex_init(&readers.mutex, NULL);
        /* this thread reads too; without a further one it reads all */
        while (n_threads + 1 < n && n_threads + 1 < READERS_MAX && (long)n_threads + 1 < cores &&
               pthread_create(&threads[n_threads], NULL, compare_reader, &readers) == 0)
                n_threads++;
        compare_reader(&readers);
        for (size_t i = 0; i < n_threads; i++)
                pthread_join(threads[i], NULL);
        pthread_mutex_destroy(&readers.mutex);
        return readers.result;
}

static int compare_match_pair(struct compare_pair *pair)
{
        size_t n = pair->n_a + pair->n_b, least = SIZE_MAX;
        ROAST_CLEANUP(cleanup_free) const struct costs **costs = calloc(n, sizeof(*costs));
        int r;

        match_deinit(&pair->match);
        if (!costs)
                return ROAST_E_NOMEM;
        for (size_t i = 0; i < n; i++) {
                costs[i] = compare_costs(pair, i);
                if (costs[i]->n < least)
                        least = costs[i]->n;
        }
        r = match_units(&pair->match, costs, n, pair->by_file);
        pair->matched = r >= 0 && least > 0 && (double)pair->match.n >= MATCH_SHARE * (double)least;
        return r;
}

/* By chunk; where they were cut differently, by file; else not at all. */
static int compare_match_runs(struct compare_pair *pair)
{
        int r = compare_match_pair(pair);

        if (r < 0 || pair->matched)
                return r;
        for (size_t i = 0; i < pair->n_a + pair->n_b; i++) {
                struct compare_run *run = pair->runs[i];

                if (!run->files.file && costs_by_file(&run->files, &run->chunks) < 0)
                        return ROAST_E_NOMEM;
        }
        pair->by_file = true;
        r = compare_match_pair(pair);
        if (r >= 0 && (!pair->matched || pair->match.n < FILES_MIN))
                pair->by_file = pair->matched = false;
        return r;
}

static int compare_groups(struct roast_comparison *comparison, struct compare_run *runs,
                          size_t n_runs, size_t against)
{
        struct compare_pair pair = { .runs = calloc(n_runs, sizeof(*pair.runs)) };
        int r;

        if (!pair.runs)
                return ROAST_E_NOMEM;
        for (size_t i = 0; i < n_runs; i++)
                if (runs[i].group == 0)
                        pair.runs[pair.n_a++] = &runs[i];
        for (size_t i = 0; i < n_runs; i++)
                if (runs[i].group == against)
                        pair.runs[pair.n_a + pair.n_b++] = &runs[i];
        r = compare_match_runs(&pair);
        if (r >= 0) {
                comparison->matched_by[against] = !pair.matched  ? ""
                                                  : pair.by_file ? "file"
                                                                 : "chunk";
                r = compare_rows(comparison, &pair, against);
        }
        match_deinit(&pair.match);
        free(pair.runs);
        return r;
}

static enum roast_verdict compare_verdict_of(const struct roast_compare_row *row)
{
        if (row->better == ROAST_BETTER_NEUTRAL)
                return ROAST_VERDICT_CHANGED;
        return (row->better == ROAST_BETTER_MORE) == (row->change > 0) ? ROAST_VERDICT_BETTER
                                                                       : ROAST_VERDICT_WORSE;
}

/* A change is as large as its inverse: -20 % is as far from nothing as +25 %. */
static double compare_size_of(double change)
{
        return change < 0 && change > -1 ? 1 / (1 + change) - 1 : fabs(change);
}

static int compare_judge_rows(struct roast_comparison *comparison)
{
        ROAST_CLEANUP(cleanup_free) double *p = malloc((comparison->n_rows + 1) * sizeof(*p));

        if (!p)
                return ROAST_E_NOMEM;
        for (size_t i = 0; i < comparison->n_rows; i++)
                p[i] = comparison->rows[i].p;
        if (stat_holm(p, comparison->n_rows) < 0)
                return ROAST_E_NOMEM;
        for (size_t i = 0; i < comparison->n_rows; i++) {
                struct roast_compare_row *row = &comparison->rows[i];

                row->p_adjusted = p[i];
                if (isnan(p[i]))
                        continue;
                if (p[i] >= ALPHA)
                        row->why = "within the spread";
                else if (!(compare_size_of(row->change) > row->noise))
                        row->why = "within what runs differ by themselves";
                else
                        row->verdict = compare_verdict_of(row);
        }
        return 0;
}

static int compare_describe_runs(struct roast_comparison *comparison,
                                 const struct compare_run *runs, size_t n,
                                 struct roast_error *error)
{
        comparison->runs = calloc(n, sizeof(*comparison->runs));
        if (!comparison->runs)
                return roast_fail_nomem(error);
        for (size_t i = 0; i < n; i++) {
                struct roast_compare_run *run = &comparison->runs[comparison->n_runs++];
                const char *path = roast_run_path(runs[i].run);
                struct roast_run_about about;
                int r = roast_run_about(runs[i].run, &about, error);

                if (r < 0)
                        return r;
                run->id = about.id ? strdup(about.id) : NULL;
                run->path = strdup(path ? path : "");
                run->name = strdup(about.name ? about.name : path ? path : "");
                run->group = runs[i].group;
                run->chunks = runs[i].chunks.n;
                run->waiting = runs[i].waiting;
                run->start_utc_ns = about.start_utc_ns;
                if (!run->path || !run->name || (about.id && !run->id))
                        return roast_fail_nomem(error);
        }
        return 0;
}

static const char *compare_label_of(const struct roast_compare_run *run)
{
        return run->path[0] ? run->path : run->name;
}

/* A run that a group has twice would count as two that happen to agree. */
static int compare_check_once(const struct roast_comparison *comparison, struct roast_error *error)
{
        const struct roast_compare_run *runs = comparison->runs;

        for (size_t i = 0; i < comparison->n_runs; i++)
                for (size_t j = 0; j < i && runs[i].id; j++)
                        if (runs[j].group == runs[i].group && runs[j].id &&
                            !strcmp(runs[j].id, runs[i].id))
                                return roast_fail(error, ROAST_E_INVALID,
                                                  "%s and %s are the same run: give it once",
                                                  compare_label_of(&runs[j]),
                                                  compare_label_of(&runs[i]));
        return 0;
}

int compare_read_runs(struct roast_comparison *comparison, struct compare_run *runs, size_t n_runs)
{
        int r = 0;

        comparison->matched_by = calloc(comparison->n_groups, sizeof(*comparison->matched_by));
        if (!comparison->matched_by)
                return ROAST_E_NOMEM;
        for (size_t i = 1; i < comparison->n_groups && r >= 0; i++)
                r = compare_groups(comparison, runs, n_runs, i);
        return r < 0 ? r : compare_judge_rows(comparison);
}

static int compare_runs(struct roast_comparison *comparison, struct compare_run *runs,
                        size_t n_runs, struct roast_error *error)
{
        int r = compare_read_all(runs, n_runs, error);

        if (r >= 0)
                r = compare_describe_runs(comparison, runs, n_runs, error);
        if (r >= 0)
                r = compare_check_once(comparison, error);
        if (r >= 0)
                r = compare_conditions(comparison, runs, n_runs, error);
        if (r < 0)
                return r;
        if (compare_read_runs(comparison, runs, n_runs) < 0)
                return roast_fail_nomem(error);
        for (size_t i = 0; i < n_runs; i++) {
                comparison->runs[i].summary = runs[i].summary;
                runs[i].summary = (struct roast_summary){ 0 };
        }
        return 0;
}

int roast_compare(struct roast_comparison *comparison, struct roast_run *const *runs,
                  const size_t *group_of, size_t n_runs, struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_free) struct compare_run *all = calloc(n_runs + 1, sizeof(*all));
        size_t n_groups = 0;
        int r;

        *comparison = (struct roast_comparison){ 0 };
        if (!all)
                return roast_fail_nomem(error);
        for (size_t i = 0; i < n_runs; i++) {
                all[i].run = runs[i];
                all[i].group = group_of[i];
                if (group_of[i] >= n_groups)
                        n_groups = group_of[i] + 1;
        }
        if (n_groups < 2)
                return roast_fail(error, ROAST_E_INVALID, "there is nothing to compare with");
        if (n_groups > ROAST_COMPARE_GROUPS_MAX)
                return roast_fail(error, ROAST_E_INVALID,
                                  "more than %d groups cannot be compared at once",
                                  ROAST_COMPARE_GROUPS_MAX);
        comparison->n_groups = n_groups;
        r = compare_runs(comparison, all, n_runs, error);
        for (size_t i = 0; i < n_runs; i++) {
                costs_deinit(&all[i].chunks);
                costs_deinit(&all[i].files);
                roast_summary_deinit(&all[i].summary);
        }
        if (r < 0)
                roast_comparison_deinit(comparison);
        return r;
}

const struct roast_compare_row *
roast_comparison_regression(const struct roast_comparison *comparison, double share)
{
        const struct roast_compare_row *worst = NULL;

        for (size_t i = 0; i < comparison->n_rows; i++) {
                const struct roast_compare_row *row = &comparison->rows[i];

                if (row->verdict == ROAST_VERDICT_WORSE && fabs(row->change) > share &&
                    (!worst || fabs(row->change) > fabs(worst->change)))
                        worst = row;
        }
        return worst;
}

void roast_comparison_deinit(struct roast_comparison *comparison)
{
        for (size_t i = 0; i < comparison->n_runs; i++) {
                free(comparison->runs[i].id);
                free(comparison->runs[i].path);
                free(comparison->runs[i].name);
                roast_summary_deinit(&comparison->runs[i].summary);
        }
        for (size_t i = 0; i < comparison->n_differences; i++) {
                struct roast_compare_difference *difference = &comparison->differences[i];

                for (size_t j = 0; difference->values && j < comparison->n_groups; j++)
                        free(difference->values[j]);
                free(difference->values);
                free(difference->name);
        }
        for (size_t i = 0; i < comparison->n_rows; i++) {
                free(comparison->rows[i].key);
                free(comparison->rows[i].title);
        }
        free(comparison->runs);
        free(comparison->differences);
        free(comparison->rows);
        free(comparison->matched_by);
        *comparison = (struct roast_comparison){ 0 };
}
