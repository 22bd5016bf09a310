/*
 * roast explain: each rule fires on a run with its trait, and on no other
 *
 * The good run has no finding at all: it is the one on which none may fire.
 */

#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "alloc.h"
#include "explained.h"
#include "record/chunk.h"
#include "sample.h"
#include "util/cleanup.h"
#include "util/size.h"

/* ---- traits ---- */

static void waits_for_disks(struct scene_chunk *chunk)
{
        chunk->disk = 0.5;
}

static void waits_for_the_network(struct scene_chunk *chunk)
{
        chunk->other = 0.4;
        chunk->select = chunk->fill = 0.4;
}

static void reads_too_much(struct scene_chunk *chunk)
{
        chunk->gap = 0.5;
        chunk->ahead = 8e6;
        chunk->unused = 6e6;
        chunk->unused_names = "Jet_area\nJet_rawFactor";
}

static void reads_again(struct scene_chunk *chunk)
{
        chunk->requested = 100e6;
}

static void waits_for_cores(struct scene_chunk *chunk)
{
        chunk->queue = 0.5;
}

static void is_throttled(struct scene_chunk *chunk)
{
        chunk->throttled = 0.2;
}

static void waits_for_the_gil(struct scene_chunk *chunk)
{
        chunk->gil = 0.3;
}

static void starves(struct scene_chunk *chunk)
{
        if (chunk->order % 10 == 5)
                chunk->gap = 5;
}

/* The largest file comes last, in one chunk. */
static void has_a_long_last_chunk(struct scene_chunk *chunk)
{
        if (chunk->worker == 0 && chunk->order == SCENE_CHUNKS - 1) {
                chunk->wall = 15;
                chunk->events = 150000;
        }
}

static void is_small(struct scene_chunk *chunk)
{
        chunk->wall = 0.1;
        chunk->events = 1000;
        chunk->gap = 0.1;
}

static void is_large(struct scene_chunk *chunk)
{
        if (chunk->worker > 0 && chunk->order == 1)
                chunk->wall = 0;
}

static void takes_much_memory(struct scene_chunk *chunk)
{
        chunk->rss_peak = chunk->rss_start + 1.2e9;
}

static void stands_out(struct scene_chunk *chunk)
{
        if ((chunk->worker * SCENE_CHUNKS + chunk->order) % 20 == 7)
                chunk->wall = 4;
}

static void fails(struct scene_chunk *chunk)
{
        if (chunk->order % 5 == 2) {
                chunk->outcome = CHUNK_FAILED;
                chunk->error = "OSError";
        }
}

static void has_a_slow_file(struct scene_chunk *chunk)
{
        if (!strcmp(chunk->file, "root://site1.org//store/file-1-3.root"))
                chunk->wall = 4;
}

static void has_a_slow_site(struct scene_chunk *chunk)
{
        if (chunk->worker == 1 || chunk->order % 8 == 0) {
                snprintf(chunk->file, sizeof(chunk->file), "root://slow.org//f%d-%d.root",
                         chunk->worker, chunk->order / 8);
                chunk->wall *= 1.5;
        }
}

static void has_a_slow_host(struct scene_chunk *chunk)
{
        snprintf(chunk->file, sizeof(chunk->file), "/data/file-%d.root", chunk->order);
        if (chunk->worker == 2)
                chunk->wall *= 1.6;
}

static void grows(struct scene_chunk *chunk)
{
        chunk->rss_start = 500e6 + 10e6 * chunk->order;
        chunk->rss_end = chunk->rss_start + 10e6;
        chunk->rss_peak = chunk->rss_end;
}

static void sleeps_in_a_section(struct scene_chunk *chunk)
{
        snprintf(chunk->file, sizeof(chunk->file), "/data/file-%d-%d.root", chunk->worker,
                 chunk->order / 4);
        chunk->other = 0.5;
        chunk->select = 0.7;
        chunk->fill = 0.1;
}

static void has_one_section(struct scene_chunk *chunk)
{
        chunk->select = 0.8;
        chunk->fill = 0.1;
}

static void becomes_slower(struct scene_chunk *chunk)
{
        chunk->wall = 0.7 + 0.02 * chunk->order;
        chunk->select = (0.02 * chunk->order + 0.1) / chunk->wall;
        chunk->fill = 0.3 / chunk->wall;
}

static const struct trait {
        const char *rule;
        struct scene scene;
        const char *subject; /* the kind and name of the first; NULL: none */
        bool not_time;       /* it costs something else than time */
        bool beside;         /* the trait shows in other rules too, which may come first */
} traits[] = {
        { "io-bound", { .shape = waits_for_disks }, NULL },
        { "io-bound", { .shape = waits_for_the_network }, NULL },
        { "unused-branches", { .shape = reads_too_much }, "branch Jet_area" },
        { "rereads", { .shape = reads_again }, NULL },
        { "cpu-oversubscribed", { .shape = waits_for_cores }, "host node0" },
        { "cpu-throttled", { .shape = is_throttled }, NULL },
        { "gil", { .shape = waits_for_the_gil }, NULL },
        { "ramp", { .first = 20 }, "worker tcp://10.0.0.0:1000" },
        { "starvation",
          { .shape = starves },
          "chunk root://site0.org//store/file-0-1.root:10000-20000" },
        { "tail",
          { .shape = has_a_long_last_chunk },
          "chunk root://site0.org//store/file-0-9.root:30000-180000" },
        { "after-chunks", { .after = 20 }, NULL },
        { "chunks-small", { .shape = is_small }, NULL },
        { "chunks-large", { .shape = is_large, .chunks = 2 }, NULL },
        { "chunks-memory",
          { .shape = takes_much_memory },
          "chunk root://site0.org//store/file-0-0.root:0-10000",
          true },
        { "outliers",
          { .shape = stands_out },
          "chunk root://site0.org//store/file-0-1.root:30000-40000" },
        { "retries", { .shape = fails }, "error OSError", .beside = true },
        { "slow-file",
          { .shape = has_a_slow_file },
          "file root://site1.org//store/file-1-3.root",
          .beside = true },
        { "slow-site", { .shape = has_a_slow_site }, "site root://slow.org", .beside = true },
        { "slow-host", { .shape = has_a_slow_host }, "host node2", .beside = true },
        { "memory-limit", { .rss = 1.9e9 }, "worker tcp://10.0.0.0:1000", true },
        { "spilling", { .spilled = 3e9, .disk = 30 }, "worker tcp://10.0.0.0:1000" },
        { "memory-grows", { .shape = grows }, NULL, true },
        { "section-waits", { .shape = sleeps_in_a_section }, "section select" },
        { "section-dominates", { .shape = has_one_section }, "section select" },
        { "section-grows", { .shape = becomes_slower }, "section select", .beside = true },
        { "serialization", { .packing = 40 }, NULL },
        { "merging", { .reduce = 40 }, NULL },
        { "scheduler-lag", { .lag = 0.5 }, "worker tcp://10.0.0.0:1000" },
};

static void assert_finding(const struct roast_finding *finding, const struct trait *trait)
{
        char subject[160] = "";

        assert_true(finding->title[0]);
        assert_true(finding->threshold[0] && !strstr(finding->threshold, "%g"));
        assert_true(finding->n_evidence + finding->n_subjects > 0);
        assert_int_equal(isnan(finding->saves_s), trait->not_time);
        if (!trait->not_time)
                assert_true(finding->saves_s > 0 && finding->share > 0 && finding->share <= 1);
        if (!trait->subject)
                return;
        assert_true(finding->n_subjects > 0);
        snprintf(subject, sizeof(subject), "%s %s", finding->subjects[0].kind,
                 finding->subjects[0].name);
        assert_string_equal(subject, trait->subject);
}

static void test_each_rule_fires_on_its_trait(void **state)
{
        (void)state;
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(traits); i++) {
                ROAST_CLEANUP(roast_explanation_deinit) struct roast_explanation found = { 0 };
                const struct roast_finding *finding;

                explain_scene(&found, &traits[i].scene);
                finding = find_rule(&found, traits[i].rule);
                if (!finding)
                        fail_msg("%s did not fire", traits[i].rule);
                if (!traits[i].not_time && !traits[i].beside && finding != &found.findings[0])
                        fail_msg("%s is not first, but %s", traits[i].rule, found.findings[0].rule);
                if (traits[i].not_time && found.n_findings != 1)
                        fail_msg("%s is not alone: %s", traits[i].rule, found.findings[0].rule);
                assert_finding(finding, &traits[i]);
        }
}

static void test_no_rule_fires_on_a_good_run(void **state)
{
        ROAST_CLEANUP(roast_explanation_deinit) struct roast_explanation found = { 0 };
        struct roast_rule rule;
        size_t n = 0;

        (void)state;
        explain_scene(&found, &(struct scene){ 0 });
        assert_none_fired(&found);
        for (; roast_explain_rule(n, &rule); n++) {
                bool tested = false;

                assert_string_equal(found.unfired[n].rule, rule.name);
                assert_true(found.unfired[n].why_not[0]);
                for (size_t i = 0; i < ROAST_ARRAY_SIZE(traits); i++)
                        tested |= !strcmp(traits[i].rule, rule.name);
                if (!tested)
                        fail_msg("no trait is there for %s", rule.name);
        }
        assert_int_equal(found.n_unfired, n);
}

/* Rules whose subject is one thing must not take another for it. */
static void test_what_a_trait_is_not(void **state)
{
        static const struct {
                struct scene scene;
                const char *not_rule;
        } others[] = {
                { { .shape = waits_for_disks }, "cpu-oversubscribed" },
                { { .shape = waits_for_disks }, "section-waits" },
                { { .shape = waits_for_cores }, "io-bound" },
                { { .shape = waits_for_cores }, "section-dominates" },
                { { .shape = sleeps_in_a_section }, "io-bound" },
                { { .shape = sleeps_in_a_section }, "section-dominates" },
                { { .shape = has_a_long_last_chunk }, "chunks-large" },
                { { .shape = has_a_long_last_chunk }, "outliers" },
                { { .shape = has_a_long_last_chunk }, "slow-file" },
                { { .shape = is_large, .chunks = 2 }, "tail" },
                { { .shape = has_a_slow_host }, "slow-file" },
                { { .shape = stands_out }, "slow-host" },
                { { .shape = is_small }, "starvation" },
                { { .shape = starves }, "chunks-small" },
        };

        (void)state;
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(others); i++) {
                ROAST_CLEANUP(roast_explanation_deinit) struct roast_explanation found = { 0 };
                const struct roast_finding *first;

                explain_scene(&found, &others[i].scene);
                first = found.n_findings ? &found.findings[0] : NULL;
                if (first && !strcmp(first->rule, others[i].not_rule))
                        fail_msg("case %zu: %s is first", i, others[i].not_rule);
        }
}

/* Threads without a chunk may have had one that is not written yet. */
static void test_rules_about_the_end_of_a_run_need_one(void **state)
{
        static const struct {
                struct scene scene;
                const char *rule;
        } cases[] = {
                { { .shape = has_a_long_last_chunk, .no_end = true }, "tail" },
                { { .shape = is_large, .chunks = 2, .no_end = true }, "chunks-large" },
                { { .after = 20, .no_end = true }, "after-chunks" },
        };

        (void)state;
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(cases); i++) {
                ROAST_CLEANUP(roast_explanation_deinit) struct roast_explanation found = { 0 };

                explain_scene(&found, &cases[i].scene);
                assert_has(why_not(&found, cases[i].rule), "its end is not known");
        }
}

static void test_large_counts_are_told_with_separators(void **state)
{
        ROAST_CLEANUP(roast_explanation_deinit) struct roast_explanation found = { 0 };
        const struct roast_finding *finding;

        (void)state;
        explain_scene(&found, &(struct scene){ .shape = is_small });
        finding = find_rule(&found, "chunks-small");
        assert_non_null(finding);
        assert_has(finding->evidence[1], "chunks have 1,000 events; ");
}

/* Half of the time of every chunk is waiting: the run could take half as long. */
static void test_savings_are_wall_time_of_the_run(void **state)
{
        ROAST_CLEANUP(roast_explanation_deinit) struct roast_explanation found = { 0 };

        (void)state;
        explain_scene(&found, &(struct scene){ .shape = waits_for_cores });
        assert_true(fabs(found.findings[0].share - 0.5) < 0.02);
        assert_true(fabs(found.findings[0].saves_s - found.elapsed_s / 2) < 1);
        for (size_t i = 1; i < found.n_findings; i++)
                assert_true(isnan(found.findings[i].saves_s) ||
                            found.findings[i].saves_s <= found.findings[i - 1].saves_s);
}

static void test_allocation_failures_are_errors(void **state)
{
        (void)state;
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(traits); i += 7) {
                ROAST_CLEANUP(sample_freep) struct roast_run *run = scene_run(&traits[i].scene);
                int r = -1;

                for (long count = 0; r < 0; count++) {
                        struct roast_explain_view view = { .all = true };
                        struct roast_explanation found = { 0 };
                        struct roast_error error = { 0 };
                        char *json = NULL, *text = NULL;

                        alloc_fail_after(count);
                        r = roast_explain(&found, run, &error);
                        if (r >= 0)
                                r = roast_explanation_to_json(&json, &found, &error);
                        if (r >= 0)
                                r = roast_explanation_to_text(&text, &found, &view, &error);
                        if (r < 0)
                                assert_true(alloc_failed());
                        alloc_fail_after(-1);
                        roast_explanation_deinit(&found);
                        free(json);
                        free(text);
                        assert_true(count < 10000);
                }
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_each_rule_fires_on_its_trait),
                cmocka_unit_test(test_no_rule_fires_on_a_good_run),
                cmocka_unit_test(test_what_a_trait_is_not),
                cmocka_unit_test(test_rules_about_the_end_of_a_run_need_one),
                cmocka_unit_test(test_large_counts_are_told_with_separators),
                cmocka_unit_test(test_savings_are_wall_time_of_the_run),
                cmocka_unit_test(test_allocation_failures_are_errors),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
