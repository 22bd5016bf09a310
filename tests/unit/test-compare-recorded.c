/* Comparisons of pairs without a difference, drawn from what was recorded: none is called */

#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyze/clusters.h"
#include "analyze/compare.h"
#include "analyze/statistics.h"
#include "recorded.h"
#include "synthetic.h"

#define MOST_ROWS 24

static struct roast_run *recorded_run(int recording)
{
        struct roast_error error = { 0 };
        struct roast_run *run;

        assert_int_equal(roast_run_create(&run, NULL, &error), 0);
        assert_int_equal(recorded_add(run, recording, &error), 0);
        return run;
}

static void read_recorded(struct compare_run *runs)
{
        struct roast_error error = { 0 };

        for (int i = 0; i < 2; i++) {
                runs[i] = (struct compare_run){ .run = recorded_run(i), .group = (size_t)i };
                assert_int_equal(costs_read(&runs[i].chunks, &runs[i].summary, runs[i].run, &error),
                                 0);
                assert_int_equal(runs[i].chunks.n, 60);
        }
}

static void free_runs(struct compare_run *runs)
{
        for (int i = 0; i < 2; i++) {
                costs_deinit(&runs[i].chunks);
                costs_deinit(&runs[i].files);
                roast_summary_deinit(&runs[i].summary);
                roast_run_free(runs[i].run);
        }
}

static void copy_unit(struct costs *to, size_t at, const struct costs *from, size_t unit)
{
        to->events[at] = from->events[unit];
        for (int i = 0; i < COST_N_MEASURES; i++)
                to->measures[i][at] = from->measures[i][unit];
        for (size_t i = 0; i < to->n_sections; i++)
                for (size_t j = 0; j < from->n_sections; j++) {
                        size_t len, other_len;
                        const char *name = intern_get(&to->names, to->sections[i].name, &len);
                        const char *other =
                                intern_get(&from->names, from->sections[j].name, &other_len);

                        if (len == other_len && !memcmp(name, other, len))
                                to->sections[i].seconds[at] = from->sections[j].seconds[unit];
                }
}

struct counts {
        char keys[MOST_ROWS][64];
        size_t rows[MOST_ROWS]; /* in how many pairs the row alone would be called different */
        size_t tested[MOST_ROWS];
        size_t tables; /* in how many any row would be after correction */
};

/* A row that is zero in a whole draw is not there. */
static size_t place_of(struct counts *counts, const struct roast_compare_row *row)
{
        for (size_t i = 0; i < MOST_ROWS; i++) {
                if (!*counts->keys[i])
                        snprintf(counts->keys[i], sizeof(counts->keys[i]), "%s", row->key);
                if (!strcmp(counts->keys[i], row->key))
                        return i;
        }
        fail_msg("there are more rows than places");
        return 0;
}

static void count(struct counts *counts, struct compare_run *runs)
{
        struct roast_comparison comparison = { .n_groups = 2 };
        bool any = false;

        assert_int_equal(compare_read_runs(&comparison, runs, 2), 0);
        for (size_t i = 0; i < comparison.n_rows; i++) {
                const struct roast_compare_row *row = &comparison.rows[i];
                size_t at = place_of(counts, row);

                counts->tested[at] += isnan(row->p) ? 0 : 1;
                counts->rows[at] += row->p < 0.05 ? 1 : 0;
                any |= row->p_adjusted < 0.05;
        }
        counts->tables += any;
        roast_comparison_deinit(&comparison);
}

/* The promise is over 2,000 pairs; fewer may be off by chance, four deviations at most. */
static size_t allowed(void)
{
        double n = (double)synthetic_pairs();

        return (size_t)(n * (n < 2000 ? 0.05 + 4 * sqrt(0.05 * 0.95 / n) : 0.065));
}

static void check(const struct counts *counts, const char *name)
{
        size_t most = 0, tested = 0;

        for (size_t i = 0; i < MOST_ROWS; i++) {
                tested += counts->tested[i] == synthetic_pairs();
                most = counts->rows[i] > most ? counts->rows[i] : most;
        }
        printf("%s: at most %.1f %% of a row, %.1f %% of the tables\n", name,
               100.0 * (double)most / (double)synthetic_pairs(),
               100.0 * (double)counts->tables / (double)synthetic_pairs());
        assert_true(tested >= 8);
        assert_true(most <= allowed());
        assert_true(counts->tables <= allowed());
}

/* Each chunk's two measurements fall to the two runs by chance, one by one or a cluster at once. */
static void draw_matched(bool whole_clusters, const char *name)
{
        struct compare_run recorded[2], drawn[2];
        const struct costs *costs[] = { &recorded[0].chunks, &recorded[1].chunks };
        struct counts counts = { 0 };
        struct match match;
        uint64_t seed = 1;

        read_recorded(recorded);
        read_recorded(drawn);
        assert_int_equal(match_units(&match, costs, 2, false), 0);
        assert_int_equal(match.n, 60);
        for (size_t pair = 0; pair < synthetic_pairs(); pair++) {
                bool swap[CLUSTERS_MAX];

                for (size_t i = 0; i < CLUSTERS_MAX; i++)
                        swap[i] = stat_random(&seed) >> 63;
                for (size_t i = 0; i < match.n; i++) {
                        uint32_t a = match.index[0][i], b = match.index[1][i];
                        bool swapped = whole_clusters ? swap[costs[0]->cluster[a]]
                                                      : stat_random(&seed) >> 63;

                        copy_unit(&drawn[0].chunks, a, costs[swapped], swapped ? b : a);
                        copy_unit(&drawn[1].chunks, b, costs[!swapped], swapped ? a : b);
                }
                count(&counts, drawn);
        }
        check(&counts, name);
        match_deinit(&match);
        free_runs(recorded);
        free_runs(drawn);
}

static void test_recorded_chunks_that_change_sides_by_chance_do_not_differ(void **state)
{
        (void)state;
        draw_matched(false, "matched, chunk by chunk");
}

static void test_clusters_that_change_sides_by_chance_do_not_differ(void **state)
{
        (void)state;
        draw_matched(true, "matched, cluster by cluster");
}

/* Both runs are drawn from one recording, with nothing to match them by. */
static void test_draws_from_one_recording_do_not_differ(void **state)
{
        struct compare_run recorded[2], drawn[2];
        struct counts counts = { 0 };
        uint64_t seed = 7;

        (void)state;
        read_recorded(recorded);
        read_recorded(drawn);
        for (size_t i = 0; i < 60; i++)
                drawn[0].chunks.entry_start[i] = drawn[1].chunks.entry_start[i] = INT64_MIN;
        for (size_t pair = 0; pair < synthetic_pairs(); pair++) {
                for (size_t i = 0; i < 120; i++)
                        copy_unit(&drawn[i / 60].chunks, i % 60, &recorded[0].chunks,
                                  stat_random_below(&seed, 60));
                count(&counts, drawn);
        }
        check(&counts, "unmatched");
        free_runs(recorded);
        free_runs(drawn);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_recorded_chunks_that_change_sides_by_chance_do_not_differ),
                cmocka_unit_test(test_clusters_that_change_sides_by_chance_do_not_differ),
                cmocka_unit_test(test_draws_from_one_recording_do_not_differ),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
