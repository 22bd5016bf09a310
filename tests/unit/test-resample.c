/* run/grid and run/clock: series on a common grid, and stamps of clocks that go wrong */

#include "unit.h"

#include <stdlib.h>

#include "stored.h"
#include "summed.h"
#include "timeline/block.h"
#include "util/cleanup.h"
#include "util/size.h"

#define NONE INT64_MIN
#define N    6

/* One worker's block: memory in pages, and a counter in ms that begins anew */
static void add_block(struct roast_run *run, const char *worker)
{
        static const int64_t times_ms[] = { 1000, 1400, 2000, 2600 };
        static const int64_t rss[] = { 1, 2, -1, 3 }, cpu[] = { 100, 200, 500, 20 };
        const int64_t *const series[] = { rss, cpu };
        ROAST_CLEANUP(buf_deinit) struct buf block = BUF_INIT;

        assert_int_equal(block_encode(&block, times_ms, series, ROAST_ARRAY_SIZE(rss), 2, NULL), 0);
        assert_true(roast_run_add_series(run, worker, "rss_bytes/4096,cpu_user_ns/1000000",
                                         block.data, block.len, NULL) >= 0);
        assert_int_equal(roast_run_commit(run, NULL), 0);
}

struct seen {
        int64_t values[N];
        int n; /* workers */
        bool stop;
};

static int see(const char *worker, const int64_t *values, void *context)
{
        struct seen *seen = context;

        assert_int_equal(worker[0], 'w');
        memcpy(seen->values, values, sizeof(seen->values));
        seen->n++;
        return seen->stop;
}

/* Every half second from 0.5 s to 3 s */
static const struct roast_grid grid = { 500000000, 500000000, N };

static void test_a_value_holds_until_the_next_one(void **state)
{
        static const int64_t wanted[N] = { NONE, 4096, 8192, 8192, 8192, 12288 };
        ROAST_CLEANUP(sample_freep) struct roast_run *run = new_run();
        struct seen seen = { 0 };

        (void)state;
        add_block(run, "w");
        assert_int_equal(roast_run_resample(run, "rss_bytes", &grid, see, &seen, NULL), 0);
        assert_int_equal(seen.n, 1);
        assert_memory_equal(seen.values, wanted, sizeof(wanted));
        assert_int_equal(roast_run_resample(run, "no_column", &grid, see, &seen, NULL), 0);
        assert_int_equal(seen.n, 1);
}

static void test_a_rate_is_not_known_where_a_counter_begins_anew(void **state)
{
        /* of 100, 200, 500, 500 and 20 ms */
        static const int64_t wanted[N] = { NONE, NONE, 200000000, 600000000, 0, NONE };
        ROAST_CLEANUP(sample_freep) struct roast_run *run = new_run();
        struct seen seen = { 0 };

        (void)state;
        add_block(run, "w");
        assert_int_equal(roast_run_resample_rate(run, "cpu_user_ns", &grid, see, &seen, NULL), 0);
        assert_memory_equal(seen.values, wanted, sizeof(wanted));
}

static void test_a_visitor_ends_the_walk(void **state)
{
        ROAST_CLEANUP(sample_freep) struct roast_run *run = new_run();
        struct seen seen = { .stop = true };

        (void)state;
        add_block(run, "w1");
        add_block(run, "w2");
        assert_int_equal(roast_run_resample(run, "rss_bytes", &grid, see, &seen, NULL), 0);
        assert_int_equal(seen.n, 1);
}

static void test_workers_that_come_and_go(void **state)
{
        static const int64_t wanted[N] = { NONE, 4, 4, NONE, NONE, 2 };
        ROAST_CLEANUP(sample_freep) struct roast_run *run = new_run();
        struct roast_worker worker = { .name = "w", .pid = -1, .memory_limit_bytes = -1 };
        struct seen seen = { 0 };

        (void)state;
        worker.threads = 4;
        assert_true(roast_run_add_worker_event(run, 600000000, ROAST_WORKER_CAME, &worker, NULL) >=
                    0);
        assert_true(roast_run_add_worker_event(run, 2000000000, ROAST_WORKER_WENT, &worker, NULL) >=
                    0);
        worker.threads = 2;
        assert_true(roast_run_add_worker_event(run, 2900000000, ROAST_WORKER_CAME, &worker, NULL) >=
                    0);
        assert_int_equal(roast_run_commit(run, NULL), 0);
        assert_int_equal(roast_run_resample_workers(run, "threads", &grid, see, &seen, NULL), 0);
        assert_memory_equal(seen.values, wanted, sizeof(wanted));
        assert_int_equal(roast_run_resample_workers(run, "colour", &grid, see, &seen, NULL),
                         ROAST_E_NOENT);
}

static void test_a_grid_that_goes_nowhere_is_refused(void **state)
{
        static const struct roast_grid still = { 0, 0, N };
        ROAST_CLEANUP(sample_freep) struct roast_run *run = new_run();
        struct seen seen = { 0 };

        (void)state;
        assert_int_equal(roast_run_resample(run, "rss_bytes", &still, see, &seen, NULL),
                         ROAST_E_INVALID);
}

/* Stamps that come after it was told are moved; those of others are not. */
static void test_samples_of_a_wrong_clock_are_moved(void **state)
{
        static const int64_t moved[N] = { NONE, NONE, 4096, 8192, NONE, NONE };
        static const int64_t stayed[N] = { NONE, 4096, 8192, 8192, 8192, 12288 };
        ROAST_CLEANUP(sample_freep) struct roast_run *run = new_run();
        struct seen seen = { 0 };

        (void)state;
        assert_int_equal(roast_run_set_clock(run, "w", 500000000, 1000, NULL), 0);
        add_block(run, "w");
        assert_int_equal(roast_run_resample(run, "rss_bytes", &grid, see, &seen, NULL), 0);
        assert_memory_equal(seen.values, moved, sizeof(moved));
        add_block(run, "w-other");
        assert_int_equal(roast_run_resample(run, "rss_bytes", &grid, see, &seen, NULL), 0);
        assert_memory_equal(seen.values, stayed, sizeof(stayed));
        assert_int_equal(fact_int(run, "clock.offset_ns.w"), 500000000);
        assert_int_equal(fact_int(run, "clock.error_ns.w"), 1000);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_a_value_holds_until_the_next_one),
                cmocka_unit_test(test_a_rate_is_not_known_where_a_counter_begins_anew),
                cmocka_unit_test(test_a_visitor_ends_the_walk),
                cmocka_unit_test(test_workers_that_come_and_go),
                cmocka_unit_test(test_a_grid_that_goes_nowhere_is_refused),
                cmocka_unit_test(test_samples_of_a_wrong_clock_are_moved),
        };

        return cmocka_run_group_tests_name("resample", tests, NULL, NULL);
}
