/* analyze/conditions: what comparisons say about runs that were not done alike */

#include "unit.h"

#include "alloc.h"
#include "compared.h"
#include "roast-show.h"
#include "util/cleanup.h"
#include "util/size.h"

static char **values_of(const struct compared *compared, const char *name)
{
        for (size_t i = 0; i < compared->comparison.n_differences; i++)
                if (!strcmp(compared->comparison.differences[i].name, name))
                        return compared->comparison.differences[i].values;
        return NULL;
}

static void assert_differ(const struct compared *compared, const char *name, const char *a,
                          const char *b)
{
        char **values = values_of(compared, name);

        if (!values)
                fail_msg("%s is not told", name);
        assert_string_equal(values[0], a);
        assert_string_equal(values[1], b);
}

static void set_text(struct roast_run *run, const char *name, const char *text)
{
        assert_int_equal(roast_run_fact_text(run, name, text, NULL), 0);
}

static void test_facts_of_every_type_are_told(void **state)
{
        ROAST_CLEANUP(compared_deinit) struct compared compared = { 0 };
        struct roast_run *a = add_run(&compared, 0), *b = add_run(&compared, 1);

        (void)state;
        assert_int_equal(roast_run_fact_int(a, "env.cpus", 8, NULL), 0);
        assert_int_equal(roast_run_fact_int(b, "env.cpus", 16, NULL), 0);
        assert_int_equal(roast_run_fact_real(a, "env.load", 0.5, NULL), 0);
        assert_int_equal(roast_run_fact_real(b, "env.load", 0.25, NULL), 0);
        set_text(a, "env.coffea", "2026.1.0");
        set_text(b, "env.coffea", "2026.2.0");
        set_text(a, "env.host", "login1"); /* the same of both */
        set_text(b, "env.host", "login1");
        set_text(a, "processor.name", "Old");
        set_text(b, "processor.name", "New");
        set_text(a, "backend.name", "dask");
        assert_int_equal(roast_run_fact_absent(b, "backend.name", "none", NULL), 0);
        set_text(b, "run.outcome", "failed");
        set_text(b, "other.fact", "is no condition");
        compare(&compared);
        assert_differ(&compared, "cpus", "8", "16");
        assert_differ(&compared, "load", "0.5", "0.25");
        assert_differ(&compared, "coffea", "2026.1.0", "2026.2.0");
        assert_differ(&compared, "processor", "Old", "New");
        assert_differ(&compared, "back end", "dask", "");
        assert_differ(&compared, "outcome", "", "failed");
        assert_null(values_of(&compared, "host"));
        assert_int_equal(compared.comparison.n_differences, 6);
}

static void test_hosts_are_listed_once_and_in_order(void **state)
{
        ROAST_CLEANUP(compared_deinit) struct compared compared = { 0 };
        struct roast_run *a = add_run(&compared, 0), *b = add_run(&compared, 1);

        (void)state;
        add_worker(a, "tcp://a:1", "node1");
        add_worker(a, "tcp://a:2", "node1");
        add_worker(b, "tcp://b:1", "node3");
        add_worker(b, "tcp://b:2", "node2");
        compare(&compared);
        assert_differ(&compared, "hosts", "node1", "2: +node2, +node3, -node1");
        assert_null(values_of(&compared, "workers"));
}

/* The order does not matter, and workers that do not tell their host add none. */
static void test_the_same_hosts_are_no_difference(void **state)
{
        ROAST_CLEANUP(compared_deinit) struct compared compared = { 0 };
        struct roast_run *a = add_run(&compared, 0), *b = add_run(&compared, 1);

        (void)state;
        add_worker(a, "tcp://a:1", "node1");
        add_worker(a, "tcp://a:2", "node2");
        add_worker(b, "tcp://b:1", "node2");
        add_worker(b, "tcp://b:2", "node1");
        add_worker(b, "tcp://b:3", NULL);
        compare(&compared);
        assert_null(values_of(&compared, "hosts"));
        assert_differ(&compared, "workers", "2", "3");
}

static void test_of_long_lists_a_part_is_shown(void **state)
{
        ROAST_CLEANUP(compared_deinit) struct compared compared = { 0 };
        struct roast_run *a = add_run(&compared, 0), *b = add_run(&compared, 1);

        (void)state;
        set_text(a, "report.columns", "MET\nJet_pt\nMuon");
        set_text(b, "report.columns", "Jet_pt\nb1\nb2\nb3\nb4\nb5\nb6\nb7");
        compare(&compared);
        assert_differ(&compared, "branches", "3", "8: +b1, +b2, +b3, +b4, +b5, +b6 and 3 more");
}

static void test_a_list_that_only_one_run_has(void **state)
{
        ROAST_CLEANUP(compared_deinit) struct compared compared = { 0 };
        struct roast_run *a = add_run(&compared, 0), *b = add_run(&compared, 1);

        (void)state;
        set_text(a, "report.columns", "MET\nJet_pt");
        add_worker(b, "tcp://b:1", "node1");
        compare(&compared);
        assert_differ(&compared, "branches", "2", "");
        assert_differ(&compared, "hosts", "0", "1: +node1");
}

static void test_a_list_like_the_first_is_only_counted(void **state)
{
        ROAST_CLEANUP(compared_deinit) struct compared compared = { 0 };

        (void)state;
        for (size_t i = 0; i < 3; i++)
                set_text(add_run(&compared, i), "report.columns", i < 2 ? "MET\nJet_pt" : "MET");
        compare(&compared);
        assert_differ(&compared, "branches", "2", "2");
        assert_string_equal(values_of(&compared, "branches")[2], "1: -Jet_pt");
}

static void test_texts_of_a_group_are_told_once_each(void **state)
{
        static const char *const versions[] = { "3.11", "3.12", "3.11", "3.13" };
        ROAST_CLEANUP(compared_deinit) struct compared compared = { 0 };

        (void)state;
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(versions); i++)
                set_text(add_run(&compared, i == 3), "env.python", versions[i]);
        compare(&compared);
        assert_differ(&compared, "python", "3.11 | 3.12", "3.13");
}

/* The sanitizers see where a figure is cast to a number that cannot hold it. */
static void test_figures_of_any_size_are_shown(void **state)
{
        ROAST_CLEANUP(compared_deinit) struct compared compared = { 0 };
        ROAST_CLEANUP(roast_tables_deinit) struct roast_tables tables = { 0 };
        struct roast_error error = { 0 };
        size_t found = 0;

        (void)state;
        for (size_t group = 0; group < 2; group++) {
                struct roast_run *run = add_run(&compared, group);

                add_worker(run, "tcp://a:1", "node1");
                assert_int_equal(roast_run_fact_real(run, "report.processtime", 1e300, NULL), 0);
        }
        compare(&compared);
        assert_int_equal(roast_comparison_tables(&tables, &compared.comparison, &error), 0);
        for (size_t i = 0; i < tables.tables[2].n_rows * tables.tables[2].n_columns; i++) {
                const char *text = tables.tables[2].cells[i].text;

                found += text && strstr(text, "e+") && text[strlen(text) - 1] == '%';
        }
        assert_true(found >= 2); /* the efficiency of both, with its unit */
}

static void test_conditions_without_memory_are_an_error(void **state)
{
        ROAST_CLEANUP(compared_deinit) struct compared compared = { 0 };
        struct roast_run *a = add_run(&compared, 0), *b = add_run(&compared, 1);
        bool failed = true;

        (void)state;
        set_text(a, "report.columns", "MET\nJet_pt");
        set_text(b, "report.columns", "MET\nMuon");
        assert_int_equal(roast_run_fact_int(a, "env.cpus", 8, NULL), 0);
        assert_int_equal(roast_run_fact_real(b, "env.load", 0.25, NULL), 0);
        add_worker(a, "tcp://a:1", "node1");
        add_worker(b, "tcp://b:1", "node2");
        compare(&compared);
        for (long count = 0; failed; count += 1 + count / 100) {
                struct roast_comparison comparison = { 0 };
                struct roast_error error = { 0 };
                int r;

                alloc_fail_one(count);
                r = roast_compare(&comparison, compared.runs, compared.groups, compared.n, &error);
                failed = alloc_failed();
                alloc_fail_after(-1);
                if (r < 0 && (!failed || r != ROAST_E_NOMEM || !error.message[0]))
                        fail_msg("after %ld allocations: %d: %s", count, r, error.message);
                if (r >= 0) {
                        assert_int_equal(comparison.n_differences,
                                         compared.comparison.n_differences);
                        roast_comparison_deinit(&comparison);
                }
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_facts_of_every_type_are_told),
                cmocka_unit_test(test_hosts_are_listed_once_and_in_order),
                cmocka_unit_test(test_the_same_hosts_are_no_difference),
                cmocka_unit_test(test_of_long_lists_a_part_is_shown),
                cmocka_unit_test(test_a_list_that_only_one_run_has),
                cmocka_unit_test(test_a_list_like_the_first_is_only_counted),
                cmocka_unit_test(test_texts_of_a_group_are_told_once_each),
                cmocka_unit_test(test_figures_of_any_size_are_shown),
                cmocka_unit_test(test_conditions_without_memory_are_an_error),
        };

        return cmocka_run_group_tests_name("conditions", tests, NULL, NULL);
}
