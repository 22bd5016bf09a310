/*
 * analyze/conditions: what comparing takes grows with what there is to compare, and no faster
 *
 * Under AddressSanitizer these tests go without its strict checks of strings, by which each
 * strcspn() reads the text to its end: of a list of lines whatever is done line by line then
 * takes the square of its length.
 */

#include "unit.h"

#include <stdio.h>

#include "compared.h"
#include "probe/readings.h"
#include "util/cleanup.h"
#include "util/clock.h"

static void fill_hosts(struct roast_run *run, size_t group, int n)
{
        for (int i = 0; i < n; i++) {
                char host[32];

                snprintf(host, sizeof(host), "node%05d.%zu.example", i, group);
                add_worker(run, "tcp://a:1", host);
        }
}

static void fill_versions(struct roast_run *run, size_t group, int n)
{
        for (int i = 0; i < n; i++) {
                char name[32];

                snprintf(name, sizeof(name), "env.package%05d", i);
                assert_int_equal(roast_run_fact_int(run, name, (int64_t)group, NULL), 0);
        }
}

/* What comparing two runs takes that have nothing in common of n; the least of three tries */
static int64_t cpu_ns_of(void (*fill)(struct roast_run *run, size_t group, int n), int n)
{
        ROAST_CLEANUP(compared_deinit) struct compared compared = { 0 };
        int64_t least_ns = INT64_MAX;

        for (size_t group = 0; group < 2; group++)
                fill(add_run(&compared, group), group, n);
        for (int i = 0; i < 3; i++) {
                int64_t start_ns = clock_thread_cpu_ns(), ns;

                compare(&compared);
                ns = clock_thread_cpu_ns() - start_ns;
                least_ns = ns < least_ns ? ns : least_ns;
        }
        return least_ns;
}

/* Eight times as many take about eight times as long, where a search of all for each takes 64. */
static void assert_grows_evenly(void (*fill)(struct roast_run *run, size_t group, int n), int n)
{
        int64_t few_ns = cpu_ns_of(fill, n), many_ns = cpu_ns_of(fill, 8 * n);

        if (many_ns > 24 * few_ns)
                fail_msg("%.1f times as long", (double)many_ns / (double)few_ns);
}

static void test_long_lists_are_compared_in_time(void **state)
{
        (void)state;
        assert_grows_evenly(fill_hosts, 1000);
}

static void test_many_conditions_are_compared_in_time(void **state)
{
        (void)state;
        assert_grows_evenly(fill_versions, 1000);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_long_lists_are_compared_in_time),
                cmocka_unit_test(test_many_conditions_are_compared_in_time),
        };

        return cmocka_run_group_tests_name("conditions-growth", tests, NULL, NULL);
}
