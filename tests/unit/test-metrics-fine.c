/* metrics/fine: whose the CPU time, waiting and bytes of tasks are, as Dask's spans tell them */

#include "unit.h"

#include <math.h>

#include "alloc.h"
#include "metrics/fine.h"
#include "util/cleanup.h"
#include "util/size.h"

static struct fine_name text(const char *string)
{
        return (struct fine_name){ string, string ? strlen(string) : 0 };
}

static void test_a_figure_that_does_not_count_says_so(void **state)
{
        struct fine_sums sums = { .processor = "Mine" };

        (void)state;
        assert_false(fine_add(&sums, text("Mine"), text("executor"), text("seconds"), 1));
        assert_false(fine_add(&sums, text("Mine"), text("thread-cpu"), text("count"), 1));
        assert_false(fine_add(&sums, text("Mine"), text("disk-read"), text(NULL), 1));
        assert_false(
                fine_add(&sums, text("Mine"), text("thread-cpu"), text("seconds"), (double)NAN));
        assert_false(sums.seen[FINE_PROCESSOR]);
        assert_true(fine_add(&sums, text("Mine"), text("thread-cpu"), text(NULL), 1));
        assert_true(sums.seen[FINE_PROCESSOR]);
}

static double cpu_of(const struct roast_metric_set *set, bool processor)
{
        return set
                ->values[processor ? ROAST_PROCESSOR_CPU_TIME_SECONDS
                                   : ROAST_OVERHEAD_CPU_TIME_SECONDS]
                .real;
}

static void test_tasks_without_a_processor_s_name_are_all_its_own(void **state)
{
        ROAST_CLEANUP(roast_metric_set_deinit) struct roast_metric_set set = { 0 };
        struct fine_sums sums = { 0 };

        (void)state;
        fine_add(&sums, text("reduce"), text("thread-cpu"), text("seconds"), 2);
        fine_add(&sums, text(NULL), text("thread-noncpu"), text("seconds"), 0.5);
        assert_true(fine_processor_s(&sums) == 2.5);
        assert_int_equal(fine_set(&set, &sums), 0);
        assert_true(cpu_of(&set, true) == 2 && cpu_of(&set, false) == 0);
        assert_int_equal(set.values[ROAST_PROCESSOR_CPU_TIME_SECONDS].state, ROAST_KNOWN);
}

/* Dask cuts the names of tasks at 50 characters. */
static void test_a_long_name_of_a_processor_is_compared_as_far_as_dask_keeps_it(void **state)
{
        static const char name[] = "AProcessorWithANameOfMoreThanFiftyCharactersInAllOfItsParts";
        struct fine_sums sums = { .processor = name };

        (void)state;
        fine_add(&sums, (struct fine_name){ name, 50 }, text("thread-cpu"), text(NULL), 1);
        fine_add(&sums, (struct fine_name){ name, 49 }, text("thread-cpu"), text(NULL), 2);
        assert_true(fine_processor_s(&sums) == 1);
}

/* They are taken for the processor's where no task bears its name and they took most of the time */
static void test_tasks_named_automatic_retries(void **state)
{
        for (int others_s = 1; others_s <= 5; others_s += 4) {
                ROAST_CLEANUP(roast_metric_set_deinit) struct roast_metric_set set = { 0 };
                struct fine_sums sums = { .processor = "Mine" };
                bool guess = others_s < 3;

                (void)state;
                fine_add(&sums, text("automatic_retries"), text("thread-cpu"), text(NULL), 3);
                fine_add(&sums, text("reduce"), text("thread-cpu"), text(NULL), others_s);
                assert_int_equal(fine_set(&set, &sums), 0);
                assert_true(cpu_of(&set, true) == (guess ? 3 : 0));
                assert_true(cpu_of(&set, false) == (guess ? others_s : 3 + others_s));
                assert_int_equal(set.values[ROAST_PROCESSOR_CPU_TIME_SECONDS].state,
                                 guess ? ROAST_ESTIMATED : ROAST_KNOWN);
        }
}

static void test_why_all_fine_metrics_are_absent(void **state)
{
        static const enum roast_metric metrics[] = {
                ROAST_PROCESSOR_CPU_TIME_SECONDS,   ROAST_OVERHEAD_IO_WAIT_TIME_SECONDS,
                ROAST_TOTAL_BYTES_MEMORY_READ,      ROAST_DISK_WRITE_BYTES,
                ROAST_DESERIALIZATION_TIME_SECONDS,
        };
        ROAST_CLEANUP(roast_metric_set_deinit) struct roast_metric_set set = { 0 };
        int r;

        (void)state;
        assert_int_equal(fine_set_absent(&set, "spans are switched off"), 0);
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(metrics); i++) {
                assert_int_equal(set.values[metrics[i]].state, ROAST_ABSENT);
                assert_string_equal(roast_metric_reason(&set, metrics[i]),
                                    "spans are switched off");
        }
        for (long count = 0; count < 2; count++) {
                alloc_fail_after(count);
                r = fine_set_absent(&set, "another reason");
                alloc_fail_after(-1);
                assert_int_equal(r, ROAST_E_NOMEM);
        }
}

/* As many reasons are written as there are figures that rest on the guess. */
static void test_a_guess_without_memory_is_an_error(void **state)
{
        struct fine_sums sums = { .processor = "Mine" };
        bool failed = true;
        long count = 0;

        (void)state;
        fine_add(&sums, text("automatic_retries"), text("thread-cpu"), text("seconds"), 1);
        for (; failed; count++) {
                ROAST_CLEANUP(roast_metric_set_deinit) struct roast_metric_set set = { 0 };
                int r;

                alloc_fail_after(count);
                r = fine_set(&set, &sums);
                failed = alloc_failed();
                alloc_fail_after(-1);
                assert_int_equal(r, failed ? ROAST_E_NOMEM : 0);
        }
        assert_true(count > 2);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_a_figure_that_does_not_count_says_so),
                cmocka_unit_test(test_tasks_without_a_processor_s_name_are_all_its_own),
                cmocka_unit_test(
                        test_a_long_name_of_a_processor_is_compared_as_far_as_dask_keeps_it),
                cmocka_unit_test(test_tasks_named_automatic_retries),
                cmocka_unit_test(test_why_all_fine_metrics_are_absent),
                cmocka_unit_test(test_a_guess_without_memory_is_an_error),
        };

        return cmocka_run_group_tests_name("metrics-fine", tests, NULL, NULL);
}
