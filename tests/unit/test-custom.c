/* metrics/custom: the metrics that users registered, from facts */

#include "unit.h"

#include <math.h>
#include <stdlib.h>

#include "alloc.h"
#include "metrics/custom.h"
#include "sample.h"
#include "util/cleanup.h"
#include "util/size.h"

static struct roast_fact whole(int64_t value)
{
        return (struct roast_fact){ .type = ROAST_FACT_INT,
                                    .integer = value,
                                    .real = (double)value };
}

static struct roast_fact real(double value)
{
        return (struct roast_fact){ .type = ROAST_FACT_REAL, .real = value };
}

static struct roast_fact text(const char *value)
{
        return (struct roast_fact){ .type = ROAST_FACT_TEXT, .text = value };
}

static struct roast_fact absent(const char *reason)
{
        return (struct roast_fact){ .type = ROAST_FACT_ABSENT, .text = reason };
}

static void note(struct roast_summary *summary, const char *name, struct roast_fact fact)
{
        assert_int_equal(custom_note(summary, name, &fact), 0);
}

static void test_a_metric_is_put_together_from_its_facts(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary = { 0 };
        const struct roast_custom *custom;

        (void)state;
        note(&summary, "speed.unit", text("m/s"));
        note(&summary, "speed", whole(42));
        note(&summary, "speed.title", text("How fast"));
        note(&summary, "speed.better", text("more"));
        note(&summary, "speed.colour", text("red")); /* of a version to come */
        custom_end(&summary);
        assert_int_equal(summary.n_customs, 1);
        custom = &summary.customs[0];
        assert_string_equal(custom->key, "speed");
        assert_string_equal(custom->title, "How fast");
        assert_string_equal(custom->unit, "m/s");
        assert_int_equal(custom->better, ROAST_BETTER_MORE);
        assert_true(custom->value.state == ROAST_KNOWN && custom->value.count == 42 &&
                    custom->value.real == 42 && !custom->value.reason);
}

static void test_the_last_fact_of_a_name_counts(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary = { 0 };

        (void)state;
        note(&summary, "a", absent("too early"));
        note(&summary, "a", real(2.5));
        note(&summary, "a.title", text("first"));
        note(&summary, "a.title", text("second"));
        note(&summary, "a.unit", text("s"));
        note(&summary, "a.unit", text(""));
        note(&summary, "a.better", text("less"));
        note(&summary, "a.better", whole(1));
        custom_end(&summary);
        assert_int_equal(summary.n_customs, 1);
        assert_true(summary.customs[0].value.state == ROAST_KNOWN &&
                    summary.customs[0].value.real == 2.5 && summary.customs[0].value.count == 0);
        assert_string_equal(summary.customs[0].title, "second");
        assert_null(summary.customs[0].unit);
        assert_int_equal(summary.customs[0].better, ROAST_BETTER_NEUTRAL);
}

static void test_what_is_no_number_is_absent_with_the_reason(void **state)
{
        static const struct {
                const char *key, *reason;
        } expected[] = {
                { "a_word", "not a number" },   { "endless", "not finite" },
                { "nan", "not finite" },        { "nobody_knows", "not known" },
                { "told", "the sensor broke" },
        };
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary = { 0 };

        (void)state;
        note(&summary, "told", absent("the sensor broke"));
        note(&summary, "nobody_knows", absent(NULL));
        note(&summary, "a_word", text("seven"));
        note(&summary, "nan", real((double)NAN));
        note(&summary, "endless", real((double)INFINITY));
        custom_end(&summary);
        assert_int_equal(summary.n_customs, ROAST_ARRAY_SIZE(expected));
        for (size_t i = 0; i < summary.n_customs; i++) { /* sorted by key, too */
                assert_string_equal(summary.customs[i].key, expected[i].key);
                assert_int_equal(summary.customs[i].value.state, ROAST_ABSENT);
                assert_string_equal(summary.customs[i].value.reason, expected[i].reason);
        }
}

static void test_what_has_no_value_or_no_name_is_dropped(void **state)
{
        static const char *const names[] = { "",         "7up",          "a-b",   "white space",
                                             "\xc3\xa9", "total_events", ".title" };
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary = { 0 };

        (void)state;
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(names); i++)
                note(&summary, names[i], whole(1));
        note(&summary, "only_a_title.title", text("but no value"));
        note(&summary, "_x1", whole(1));
        custom_end(&summary);
        assert_int_equal(summary.n_customs, 1);
        assert_string_equal(summary.customs[0].key, "_x1");
}

static void test_a_key_is_not_the_beginning_of_another(void **state)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary = { 0 };

        (void)state;
        note(&summary, "rate", whole(1));
        note(&summary, "rates", whole(2));
        note(&summary, "rat", whole(3));
        assert_int_equal(summary.n_customs, 3);
        assert_ptr_equal(custom_of(&summary, "rates", 4), &summary.customs[0]);
        assert_ptr_equal(custom_of(&summary, "rates", 5), &summary.customs[1]);
}

static int note_all(struct roast_summary *summary)
{
        const struct roast_fact value = whole(1), title = text("title"), gone = absent("gone");
        int r = custom_note(summary, "b", &value);

        if (r >= 0)
                r = custom_note(summary, "b.title", &title);
        if (r >= 0)
                r = custom_note(summary, "b.unit", &title);
        return r < 0 ? r : custom_note(summary, "a", &gone);
}

static void test_running_out_of_memory_is_an_error(void **state)
{
        bool failed = true;

        (void)state;
        for (long count = 0; failed; count++) {
                ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary = { 0 };
                int r;

                alloc_fail_after(count);
                r = note_all(&summary);
                failed = alloc_failed();
                alloc_fail_after(-1);
                assert_int_equal(r, failed ? ROAST_E_NOMEM : 0);
                custom_end(&summary);
                assert_true(failed || summary.n_customs == 2);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_a_metric_is_put_together_from_its_facts),
                cmocka_unit_test(test_the_last_fact_of_a_name_counts),
                cmocka_unit_test(test_what_is_no_number_is_absent_with_the_reason),
                cmocka_unit_test(test_what_has_no_value_or_no_name_is_dropped),
                cmocka_unit_test(test_a_key_is_not_the_beginning_of_another),
                cmocka_unit_test(test_running_out_of_memory_is_an_error),
        };

        return cmocka_run_group_tests_name("custom", tests, NULL, NULL);
}
