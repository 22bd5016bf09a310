/* metrics/: what the chunks of a run are summed up to */

#include "unit.h"

#include <math.h>
#include <stdio.h>

#include "roast-run.h"
#include "roast-show.h"
#include "sample.h"
#include "summed.h"
#include "util/cleanup.h"
#include "util/size.h"

static void add_lost(struct roast_run *run, int64_t start)
{
        struct roast_task task = ROAST_TASK_INIT;
        char key[32];

        snprintf(key, sizeof(key), "MyProcessor-%lld", (long long)start);
        task.key = key;
        task.worker = "tcp://a:1";
        task.outcome = CHUNK_LOST;
        task.stop_utc_ns = UTC;
        task.file = "a.root";
        task.tree = "Events";
        task.entry_start = start;
        task.entry_stop = start + 100;
        assert_int_equal(roast_run_add_task(run, &task, NULL), 1);
}

static void test_chunks_that_were_all_lost_are_counted(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;
        ROAST_CLEANUP(roast_table_deinit) struct roast_table table = { 0 };
        struct roast_run *run = new_run();

        (void)state;
        add_lost(run, 0);
        add_lost(run, 100);
        summarize(&summary, run);
        assert_true(known(&summary, ROAST_NUM_LOST_CHUNKS) == 2);
        assert_absent(&summary, ROAST_NUM_CHUNKS, "no report was given");
        assert_int_equal(roast_table_make(&table, "chunks", &summary, NULL), 0);
        assert_int_equal(table.n_rows, 1);
        assert_int_equal(table.cells[1].count, 2);
}

struct plain {
        double mean, std, min, max;
};

/* Two passes, as in a book */
static struct plain plain_of(const double *x, size_t n)
{
        struct plain plain = { .min = x[0], .max = x[0] };
        double sum = 0;

        for (size_t i = 0; i < n; i++) {
                sum += x[i];
                plain.min = fmin(plain.min, x[i]);
                plain.max = fmax(plain.max, x[i]);
        }
        plain.mean = sum / (double)n;
        sum = 0;
        for (size_t i = 0; i < n; i++)
                sum += (x[i] - plain.mean) * (x[i] - plain.mean);
        plain.std = n > 1 ? sqrt(sum / (double)(n - 1)) : 0;
        return plain;
}

static void test_statistics_of_chunks_against_two_passes(void **state)
{
        uint64_t seed = 7;

        (void)state;
        for (size_t n = 1; n < 60; n += 7) {
                ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;
                ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;
                struct roast_run *run = new_timed_run();
                double wall[60], memory[60], events[60], total = 0;
                struct plain plain;

                chunk_table_init(&table);
                for (size_t i = 0; i < n; i++) {
                        int64_t ns = 1000000000 + (int64_t)sample_below(&seed, 1000);
                        int64_t rss = (int64_t)sample_below(&seed, 1u << 30);

                        assert_int_equal(chunk_table_add(&table), 0);
                        wall[i] = (double)ns / 1e9;
                        memory[i] = ((double)rss - 500000000) / 1048576;
                        events[i] = (double)sample_below(&seed, 100000);
                        total += events[i];
                        chunk_table_set(&table, i, CHUNK_OUTCOME, CHUNK_FINISHED);
                        chunk_table_set(&table, i, CHUNK_WALL_NS, ns);
                        chunk_table_set(&table, i, CHUNK_RSS_START_BYTES, 500000000);
                        chunk_table_set(&table, i, CHUNK_RSS_END_BYTES, rss);
                        chunk_table_set(&table, i, CHUNK_NUM_EVENTS, (int64_t)events[i]);
                }
                add_table(run, &table);
                summarize(&summary, run);
                plain = plain_of(wall, n);
                assert_near(known(&summary, ROAST_CHUNK_DURATION_MEAN), plain.mean);
                assert_true(known(&summary, ROAST_CHUNK_DURATION_MIN) == plain.min);
                assert_true(known(&summary, ROAST_CHUNK_DURATION_MAX) == plain.max);
                /* differences of 1e-6 of the mean: the rest of the digits is noise */
                assert_true(fabs(known(&summary, ROAST_CHUNK_DURATION_STD) - plain.std) < 1e-14);
                plain = plain_of(memory, n);
                assert_near(known(&summary, ROAST_CHUNK_MEM_DELTA_MIN_MB), plain.min);
                assert_near(known(&summary, ROAST_CHUNK_MEM_DELTA_MAX_MB), plain.max);
                assert_near(known(&summary, ROAST_CHUNK_MEM_DELTA_STD_MB), plain.std);
                plain = plain_of(events, n);
                assert_near(known(&summary, ROAST_CHUNK_EVENTS_MEAN), plain.mean);
                assert_true(known(&summary, ROAST_CHUNK_EVENTS_MAX) == plain.max);
                assert_true(known(&summary, ROAST_TOTAL_EVENTS_FROM_CHUNKS) == total);
                /* no report: the rates rest on the chunks, and say so */
                assert_int_equal(summary.metrics.values[ROAST_TOTAL_EVENTS].state, ROAST_ESTIMATED);
                assert_int_equal(summary.metrics.values[ROAST_EVENT_RATE_ELAPSED_KHZ].state,
                                 ROAST_ESTIMATED);
        }
}

/* One chunk was looked at while it slept, the other was not: both slept in the same. */
static void test_the_parts_of_wall_time_sum_to_it_and_looks_are_pooled(void **state)
{
        static const struct {
                enum chunk_field field;
                int64_t first, second;
        } figures[] = {
                { CHUNK_WALL_NS, 10 * S, 10 * S },    { CHUNK_CPU_NS, 4 * S, 5 * S },
                { CHUNK_RUNQUEUE_NS, 1 * S, 2 * S },  { CHUNK_THROTTLED_NS, 1 * S, 0 },
                { CHUNK_BLOCK_IO_NS, 1 * S, 0 },      { CHUNK_GIL_NS, 3 * S, 0 },
                { CHUNK_OTHER_NS, 0, 3 * S },         { CHUNK_SPLIT_SAMPLES, 40, 0 },
                { CHUNK_PROBE_NS, S / 100, S / 100 },
        };
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;
        struct roast_run *run = new_timed_run();

        (void)state;
        chunk_table_init(&table);
        for (size_t row = 0; row < 2; row++) {
                assert_int_equal(chunk_table_add(&table), 0);
                chunk_table_set(&table, row, CHUNK_OUTCOME, CHUNK_FINISHED);
                for (size_t i = 0; i < ROAST_ARRAY_SIZE(figures); i++)
                        chunk_table_set(&table, row, figures[i].field,
                                        row ? figures[i].second : figures[i].first);
        }
        add_table(run, &table);
        summarize(&summary, run);
        assert_near(known(&summary, ROAST_CHUNK_CPU_SECONDS), 9);
        assert_near(known(&summary, ROAST_CHUNK_RUNQUEUE_SECONDS), 3);
        assert_near(known(&summary, ROAST_CHUNK_THROTTLED_SECONDS), 1);
        /* 7 s asleep: a quarter of the looks met a disk, the others the GIL */
        assert_near(summary.metrics.values[ROAST_CHUNK_BLOCK_IO_SECONDS].real, 1.75);
        assert_near(summary.metrics.values[ROAST_CHUNK_GIL_SECONDS].real, 5.25);
        assert_near(summary.metrics.values[ROAST_CHUNK_OTHER_WAIT_SECONDS].real, 0);
        assert_int_equal(summary.metrics.values[ROAST_CHUNK_GIL_SECONDS].state, ROAST_ESTIMATED);
        assert_near(known(&summary, ROAST_MONITORING_PERCENT), 0.02 / 9 * 100);
}

/* A run of one chunk of ten seconds; CHUNK_ABSENT: what measuring took is not told. */
static void summarize_chunk(struct roast_summary *summary, int64_t cpu_ns, int64_t probe_ns)
{
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;
        struct roast_run *run = new_timed_run();

        chunk_table_init(&table);
        assert_int_equal(chunk_table_add(&table), 0);
        chunk_table_set(&table, 0, CHUNK_OUTCOME, CHUNK_FINISHED);
        chunk_table_set(&table, 0, CHUNK_WALL_NS, 10 * S);
        chunk_table_set(&table, 0, CHUNK_CPU_NS, cpu_ns);
        chunk_table_set(&table, 0, CHUNK_PROBE_NS, probe_ns);
        add_table(run, &table);
        summarize(summary, run);
}

/* As those of a worker without the extension */
static void test_a_queue_that_no_chunk_tells_of_is_absent_and_the_rest_is_waiting(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;

        (void)state;
        summarize_chunk(&summary, 4 * S, CHUNK_ABSENT);
        assert_near(known(&summary, ROAST_CHUNK_CPU_SECONDS), 4);
        assert_absent(&summary, ROAST_CHUNK_RUNQUEUE_SECONDS, "no chunk tells it");
        assert_absent(&summary, ROAST_CHUNK_THROTTLED_SECONDS, "no chunk tells it");
        assert_near(summary.metrics.values[ROAST_CHUNK_OTHER_WAIT_SECONDS].real, 6);
        assert_absent(&summary, ROAST_CHUNK_BLOCK_IO_SECONDS, "no look met a chunk asleep");
        assert_absent(&summary, ROAST_CHUNK_GIL_SECONDS, "no look met a chunk asleep");
        assert_absent(&summary, ROAST_MONITORING_SECONDS, "no chunk tells it");
        assert_absent(&summary, ROAST_MONITORING_PERCENT, "no chunk and no sample tells it");
}

static void test_a_chunk_that_never_slept_waited_for_nothing(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;

        (void)state;
        summarize_chunk(&summary, 10 * S, CHUNK_ABSENT);
        assert_int_equal(summary.metrics.values[ROAST_CHUNK_GIL_SECONDS].state, ROAST_ESTIMATED);
        assert_near(summary.metrics.values[ROAST_CHUNK_GIL_SECONDS].real, 0);
        assert_near(summary.metrics.values[ROAST_CHUNK_BLOCK_IO_SECONDS].real, 0);
}

/* That it took nothing is a reading, too. */
static void test_what_measuring_cost_is_known_where_a_chunk_tells_it(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;

        (void)state;
        summarize_chunk(&summary, 4 * S, 0);
        assert_near(known(&summary, ROAST_MONITORING_SECONDS), 0);
}

static void test_failed_chunks_are_counted_and_not_averaged(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;
        struct roast_run *run = new_timed_run();
        static const enum chunk_outcome outcomes[] = { CHUNK_FINISHED, CHUNK_FAILED, CHUNK_LOST,
                                                       CHUNK_SKIPPED, CHUNK_GRAPH };

        (void)state;
        assert_int_equal(roast_run_fact_int(run, "report.entries", 77, NULL), 0);
        chunk_table_init(&table);
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(outcomes); i++) {
                assert_int_equal(chunk_table_add(&table), 0);
                chunk_table_set(&table, i, CHUNK_OUTCOME, outcomes[i]);
                chunk_table_set(&table, i, CHUNK_WALL_NS, (int64_t)(i + 1) * S);
                chunk_table_set(&table, i, CHUNK_NUM_EVENTS, 100);
                assert_int_equal(chunk_table_set_text(&table, i, CHUNK_FILE, "a.root", 6), 0);
        }
        add_table(run, &table);
        summarize(&summary, run);
        assert_true(known(&summary, ROAST_NUM_CHUNKS) == 3);
        assert_true(known(&summary, ROAST_NUM_SUCCESSFUL_CHUNKS) == 1);
        assert_true(known(&summary, ROAST_NUM_FAILED_CHUNKS) == 2);
        assert_true(known(&summary, ROAST_NUM_LOST_CHUNKS) == 1);
        assert_near(known(&summary, ROAST_CHUNK_DURATION_MAX), 1);
        assert_absent(&summary, ROAST_CHUNK_MEM_DELTA_MEAN_MB, "no chunk records");
        assert_absent(&summary, ROAST_BYTES_NEEDED_AGAIN, "no chunk that finished tells it");
        assert_absent(&summary, ROAST_MONITORING_PERCENT, "no chunk and no sample tells it");
        assert_true(known(&summary, ROAST_TOTAL_EVENTS) == 77);
        assert_int_equal(summary.n_datasets, 1);
        assert_null(summary.datasets[0].name);
        assert_int_equal(summary.datasets[0].failed, 2);
}

static void test_sections_of_what_is_no_chunk_do_not_count(void **state)
{
        static const int64_t figures[SECTION_N_FIELDS] = { SECTION_TIME, 1, S, S, S, S };
        static const enum chunk_outcome outcomes[] = { CHUNK_FINISHED, CHUNK_FAILED, CHUNK_GRAPH,
                                                       CHUNK_FINISHED };
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;
        struct roast_run *run = new_timed_run();

        (void)state;
        chunk_table_init(&table);
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(outcomes); i++) {
                assert_int_equal(chunk_table_add(&table), 0);
                chunk_table_set(&table, i, CHUNK_OUTCOME, outcomes[i]);
                chunk_table_set(&table, i, CHUNK_ENTRY_START, (int64_t)i * 100);
                chunk_table_set(&table, i, CHUNK_ENTRY_STOP, (int64_t)i * 100 + 100);
                chunk_table_set_text(&table, i, CHUNK_WORKER, "tcp://a:1", 9);
                chunk_table_set_text(&table, i, CHUNK_FILE, "a.root", 6);
                chunk_table_set_text(&table, i, CHUNK_TREE, "Events", 6);
                assert_int_equal(chunk_table_add_section(&table, "fill", 4, figures), 0);
        }
        add_table(run, &table);
        add_lost(run, 300); /* finished, but its result went with the worker */
        summarize(&summary, run);
        assert_true(known(&summary, ROAST_NUM_CHUNKS) == 2);
        assert_int_equal(summary.n_sections, 1);
        assert_int_equal(summary.sections[0].chunks, 2);
        assert_near(summary.sections[0].total_s, 2);
}

/* One of two chunks lost the reading of its memory, and the source of its bytes. */
static void test_sections_sum_what_chunks_tell(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;
        struct roast_run *run = new_timed_run();

        (void)state;
        chunk_table_init(&table);
        for (size_t row = 0; row < 2; row++) {
                int64_t figures[SECTION_N_FIELDS];

                for (size_t i = 0; i < SECTION_N_FIELDS; i++)
                        figures[i] = CHUNK_ABSENT;
                figures[SECTION_KIND] = SECTION_MEMORY | SECTION_BYTES_READ;
                figures[SECTION_COUNT] = 1;
                if (row == 0) {
                        figures[SECTION_RSS_DELTA_BYTES] = 50;
                        figures[SECTION_BYTES] = 70;
                }
                assert_int_equal(chunk_table_add(&table), 0);
                chunk_table_set(&table, row, CHUNK_OUTCOME, CHUNK_FINISHED);
                assert_int_equal(chunk_table_add_section(&table, "fill", 4, figures), 0);
        }
        add_table(run, &table);
        summarize(&summary, run);
        assert_int_equal(summary.sections[0].memory_chunks, 1);
        assert_near(summary.sections[0].rss_delta_min_bytes, 50);
        assert_int_equal(summary.sections[0].bytes_chunks, 1);
        assert_int_equal(summary.sections[0].bytes, 70);
}

static void test_datasets_and_sections_are_summed(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary;
        struct roast_run *run = new_timed_run();

        (void)state;
        assert_int_equal(sample_add_chunks(run, 40, NULL), 40);
        summarize(&summary, run);
        assert_int_equal(summary.n_datasets, 2);
        assert_string_equal(summary.datasets[0].name, "TTbar");
        assert_int_equal(summary.datasets[0].finished + summary.datasets[0].failed, 14);
        assert_int_equal(summary.datasets[0].finished + summary.datasets[1].finished, 36);
        assert_int_equal(summary.datasets[0].events, 25000 * summary.datasets[0].finished);
        assert_int_equal(summary.n_sections, 2);
        assert_string_equal(summary.sections[0].name, "select");
        assert_near(summary.sections[0].total_s, 8);
        assert_string_equal(summary.sections[1].name, "fill");
        assert_int_equal(summary.sections[1].kind, SECTION_TIME | SECTION_MEMORY);
        assert_int_equal(summary.sections[1].chunks, 40);
        assert_near(summary.sections[1].max_s, 0.1);
        assert_true(summary.sections[1].rss_delta_bytes == 80 * 1048576);
        assert_true(summary.sections[1].rss_delta_max_bytes == 4 * 1048576);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_chunks_that_were_all_lost_are_counted),
                cmocka_unit_test(test_statistics_of_chunks_against_two_passes),
                cmocka_unit_test(test_the_parts_of_wall_time_sum_to_it_and_looks_are_pooled),
                cmocka_unit_test(
                        test_a_queue_that_no_chunk_tells_of_is_absent_and_the_rest_is_waiting),
                cmocka_unit_test(test_a_chunk_that_never_slept_waited_for_nothing),
                cmocka_unit_test(test_what_measuring_cost_is_known_where_a_chunk_tells_it),
                cmocka_unit_test(test_failed_chunks_are_counted_and_not_averaged),
                cmocka_unit_test(test_sections_of_what_is_no_chunk_do_not_count),
                cmocka_unit_test(test_sections_sum_what_chunks_tell),
                cmocka_unit_test(test_datasets_and_sections_are_summed),
        };

        return cmocka_run_group_tests_name("metrics-chunks", tests, NULL, NULL);
}
