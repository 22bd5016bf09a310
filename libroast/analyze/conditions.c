/*
 * What differs in the conditions of runs
 *
 * It comes before the figures, because it explains most of their differences:
 * versions, workers, hosts, chunk size, fileset, branches. Each is a text for
 * each run; those of a group that are not the same are shown one after another.
 */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/compare.h"
#include "roast-units.h"
#include "run/run.h"
#include "run/series.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/text.h"

/* The texts of one condition, one for each run; NULL: not known */
struct condition {
        char *name;
        char **texts;
};

struct conditions {
        struct condition *list;
        struct intern names; /* in the order of the list */
        size_t n, cap;
        size_t n_runs;
};

static void conditions_deinit(struct conditions *conditions)
{
        for (size_t i = 0; i < conditions->n; i++) {
                for (size_t j = 0; conditions->list[i].texts && j < conditions->n_runs; j++)
                        free(conditions->list[i].texts[j]);
                free(conditions->list[i].texts);
                free(conditions->list[i].name);
        }
        free(conditions->list);
        intern_deinit(&conditions->names);
}

/* The condition of that name, made if there is none; NULL: no memory */
static struct condition *conditions_find(struct conditions *conditions, const char *name)
{
        struct condition *condition;
        int64_t number = intern_put(&conditions->names, name, strlen(name));

        if (number < 0)
                return NULL;
        if ((size_t)number < conditions->n)
                return &conditions->list[number];
        if (ARRAY_ROOM(conditions->list, conditions->n, conditions->cap) < 0)
                return NULL;
        condition = &conditions->list[conditions->n++];
        condition->name = strdup(name);
        condition->texts = calloc(conditions->n_runs, sizeof(*condition->texts));
        return condition->name && condition->texts ? condition : NULL;
}

/* Takes the text over, which may be NULL for want of memory. */
static int conditions_put(struct conditions *conditions, const char *name, size_t run, char *text)
{
        struct condition *condition = text ? conditions_find(conditions, name) : NULL;

        if (!condition) {
                free(text);
                return ROAST_E_NOMEM;
        }
        free(condition->texts[run]);
        condition->texts[run] = text;
        return 0;
}

struct facts {
        struct conditions *conditions;
        size_t run;
        int result;
};

static char *conditions_fact_text(const struct roast_fact *fact)
{
        char *text = NULL;
        int r = 0;

        switch (fact->type) {
        case ROAST_FACT_INT:
                r = asprintf(&text, "%lld", (long long)fact->integer);
                break;
        case ROAST_FACT_REAL:
                r = asprintf(&text, "%g", fact->real);
                break;
        case ROAST_FACT_TEXT:
        case ROAST_FACT_ABSENT:
                return strdup(fact->type == ROAST_FACT_TEXT && fact->text ? fact->text : "");
        }
        return r < 0 ? NULL : text;
}

/* Versions and the like under their own name; the report's columns are the branches. */
static int conditions_note_fact(const struct roast_fact *fact, void *context)
{
        static const char *const known[][2] = {
                { "processor.name", "processor" },
                { "backend.name", "back end" },
                { "run.outcome", "outcome" },
                { "report.columns", "branches" },
        };
        struct facts *facts = context;
        const char *name = NULL;

        if (!strncmp(fact->name, "env.", 4))
                name = fact->name + 4;
        for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
                if (!strcmp(fact->name, known[i][0]))
                        name = known[i][1];
        if (name && fact->type != ROAST_FACT_ABSENT)
                facts->result = conditions_put(facts->conditions, name, facts->run,
                                               conditions_fact_text(fact));
        return facts->result < 0;
}

static int conditions_by_text(const void *a, const void *b)
{
        return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The hosts of the workers, in order, each once */
static int conditions_host_list(char **ret, struct roast_run *run, const struct intern *texts,
                                struct roast_error *error)
{
        ROAST_CLEANUP(buf_deinit) struct buf out = BUF_INIT;
        struct intern hosts = { 0 };
        struct run_scan scan;
        char **sorted = NULL;
        int r = run_scan_begin(&scan, run, RUN_WORKER_EVENT, error);

        while (r >= 0 && (r = run_scan_next(&scan, error)) > 0) {
                const struct run_value *host = &scan.values[WORKER_EVENT_HOST];

                if (host->type == RUN_INT && host->integer > 0 &&
                    (uint64_t)host->integer <= texts->n) {
                        size_t len;
                        const char *name = intern_get(texts, (size_t)host->integer - 1, &len);

                        if (intern_put(&hosts, name, len) < 0)
                                r = roast_fail_nomem(error);
                }
        }
        run_scan_end(&scan);
        if (r >= 0 && !(sorted = calloc(hosts.n + 1, sizeof(*sorted))))
                r = roast_fail_nomem(error);
        for (size_t i = 0; sorted && i < hosts.n; i++) {
                size_t len;
                const char *name = intern_get(&hosts, i, &len);

                sorted[i] = text_copy(name, len);
                if (!sorted[i])
                        r = roast_fail_nomem(error);
        }
        if (sorted && r >= 0)
                qsort(sorted, hosts.n, sizeof(*sorted), conditions_by_text);
        for (size_t i = 0; sorted && i < hosts.n; i++) {
                if (r >= 0 && buf_printf(&out, "%s%s", i ? "\n" : "", sorted[i]) < 0)
                        r = roast_fail_nomem(error);
                free(sorted[i]);
        }
        if (r >= 0 && !(*ret = buf_release_string(&out)))
                r = roast_fail_nomem(error);
        free(sorted);
        intern_deinit(&hosts);
        return r;
}

static int conditions_put_count(struct conditions *conditions, const char *name, size_t run,
                                double count)
{
        char text[ROAST_UNITS_MAX];

        if (isnan(count))
                return 0;
        return conditions_put(
                conditions, name, run,
                strdup(roast_format_count(text, sizeof(text), (int64_t)llround(count))));
}

static int conditions_put_metric(struct conditions *conditions, const char *name, size_t run,
                                 const struct roast_metric_set *set, enum roast_metric metric)
{
        char text[ROAST_UNITS_MAX];

        if (set->values[metric].state == ROAST_ABSENT)
                return 0;
        return conditions_put(
                conditions, name, run,
                strdup(roast_format_value(text, sizeof(text), metric, &set->values[metric])));
}

/* Shares below this are no condition worth a line. */
#define WAITING_SHOWN 0.02

static int conditions_note_figures(struct conditions *conditions, size_t i,
                                   const struct compare_run *run)
{
        const struct roast_metric_set *set = &run->summary.metrics;
        const struct costs *costs = &run->chunks;
        char *text;
        int r = conditions_put_metric(conditions, "workers", i, set, ROAST_PEAK_WORKERS);

        if (r >= 0)
                r = conditions_put_metric(conditions, "cores", i, set, ROAST_TOTAL_CORES);
        if (r >= 0)
                r = conditions_put_metric(conditions, "failed chunks", i, set,
                                          ROAST_NUM_FAILED_CHUNKS);
        if (r >= 0 && costs->n)
                r = conditions_put_count(conditions, "events of a chunk", i, costs->chunk_events);
        if (r >= 0)
                r = conditions_put_count(conditions, "chunks", i, (double)costs->n);
        if (r >= 0)
                r = conditions_put_count(conditions, "events", i, costs->events_total);
        if (r >= 0)
                r = conditions_put_count(conditions, "files", i, (double)costs->n_files);
        if (r >= 0 && run->waiting > WAITING_SHOWN)
                r = asprintf(&text, "%.0f %%", 100 * run->waiting) < 0
                            ? ROAST_E_NOMEM
                            : conditions_put(conditions, "waiting for a core", i, text);
        if (r >= 0 && costs->n)
                r = conditions_put(conditions, "chunk times", i,
                                   strdup(costs->from_tasks == 0 ? "of process()"
                                          : costs->from_tasks == costs->n
                                                  ? "of whole tasks"
                                                  : "some of process(), some of tasks"));
        return r;
}

static int conditions_note_run(struct conditions *conditions, size_t i, struct compare_run *run,
                               struct roast_error *error)
{
        struct facts facts = { conditions, i, 0 };
        struct intern texts = { 0 };
        ROAST_CLEANUP(cleanup_free) char *hosts = NULL;
        int r;

        r = run_view_begin(run->run, error);
        if (r < 0)
                return r;
        r = roast_run_facts(run->run, conditions_note_fact, &facts, error);
        if (r >= 0)
                r = run_read_texts(run->run, &texts, error);
        if (r >= 0)
                r = conditions_host_list(&hosts, run->run, &texts, error);
        run_view_end(run->run);
        intern_deinit(&texts);
        if (r < 0)
                return r;
        if (facts.result < 0)
                return roast_fail_nomem(error);
        r = conditions_put(conditions, "hosts", i, hosts);
        hosts = NULL;
        return r < 0 || conditions_note_figures(conditions, i, run) < 0 ? roast_fail_nomem(error)
                                                                        : 0;
}

static int conditions_intern_lines(struct intern *intern, const char *lines)
{
        while (lines && *lines) {
                size_t len = strcspn(lines, "\n");

                if (intern_put(intern, lines, len) < 0)
                        return ROAST_E_NOMEM;
                lines += len + (lines[len] == '\n');
        }
        return 0;
}

#define LINES_SHOWN 6

/* Of a list, what the other does not have: "-Jet_mass, -MET_phi"; "" if that is nothing */
static int conditions_put_lines(struct buf *out, const char *lines, const char *others,
                                const char *mark, size_t *n)
{
        ROAST_CLEANUP(intern_deinit) struct intern known = { 0 };
        int r = conditions_intern_lines(&known, others);

        while (lines && *lines && r >= 0) {
                size_t len = strcspn(lines, "\n");

                if (intern_find(&known, lines, len) < 0) {
                        if (*n < LINES_SHOWN)
                                r = buf_printf(out, "%s%s%.*s", *n ? ", " : "", mark, (int)len,
                                               lines);
                        ++*n;
                }
                lines += len + (lines[len] == '\n');
        }
        return r;
}

static size_t conditions_count_lines(const char *lines)
{
        size_t n = lines && *lines;

        for (; lines && *lines; lines++)
                n += *lines == '\n';
        return n;
}

static bool conditions_same(const char *a, const char *b)
{
        return a && b ? !strcmp(a, b) : a == b;
}

/* A list: how many, and where it is another than the first run's what is other */
static char *conditions_list_text(const char *lines, const char *first)
{
        ROAST_CLEANUP(buf_deinit) struct buf out = BUF_INIT;
        bool is_other = !conditions_same(lines, first);
        size_t n = 0;
        int r;

        if (!lines)
                return strdup("");
        r = conditions_count_lines(lines) == 1 && !is_other
                    ? buf_puts(&out, lines)
                    : buf_printf(&out, "%zu%s", conditions_count_lines(lines),
                                 is_other ? ": " : "");
        if (r >= 0 && is_other)
                r = conditions_put_lines(&out, lines, first, "+", &n);
        if (r >= 0 && is_other)
                r = conditions_put_lines(&out, first, lines, "-", &n);
        if (r >= 0 && n > LINES_SHOWN)
                r = buf_printf(&out, " and %zu more", n - LINES_SHOWN);
        return r < 0 ? NULL : buf_release_string(&out);
}

static bool conditions_is_list(const char *name)
{
        return !strcmp(name, "branches") || !strcmp(name, "hosts");
}

/* What the runs of a group say, each text once */
static char *conditions_group_text(const struct condition *condition,
                                   const struct compare_run *runs, size_t n_runs, size_t group)
{
        ROAST_CLEANUP(buf_deinit) struct buf out = BUF_INIT;
        size_t n = 0;
        int r = 0;

        for (size_t i = 0; i < n_runs && r >= 0; i++) {
                ROAST_CLEANUP(cleanup_free) char *text = NULL;
                bool before = false;

                for (size_t j = 0; j < i; j++)
                        before |= runs[j].group == group &&
                                  conditions_same(condition->texts[i], condition->texts[j]);
                if (runs[i].group != group || before)
                        continue;
                text = conditions_is_list(condition->name)
                               ? conditions_list_text(condition->texts[i], condition->texts[0])
                               : strdup(condition->texts[i] ? condition->texts[i] : "");
                r = text ? buf_printf(&out, "%s%s", n++ ? " | " : "", text) : ROAST_E_NOMEM;
        }
        return r < 0 ? NULL : buf_release_string(&out);
}

static bool conditions_differs(const struct condition *condition, size_t n_runs)
{
        for (size_t i = 1; i < n_runs; i++)
                if (!conditions_same(condition->texts[i], condition->texts[0]))
                        return true;
        return false;
}

static int conditions_add_difference(struct roast_comparison *comparison,
                                     const struct condition *condition,
                                     const struct compare_run *runs, size_t n_runs)
{
        struct roast_compare_difference *difference, *grown;

        grown = realloc(comparison->differences, (comparison->n_differences + 1) * sizeof(*grown));
        if (!grown)
                return ROAST_E_NOMEM;
        comparison->differences = grown;
        difference = &grown[comparison->n_differences++];
        difference->name = strdup(condition->name);
        difference->values = calloc(comparison->n_groups, sizeof(*difference->values));
        if (!difference->name || !difference->values)
                return ROAST_E_NOMEM;
        for (size_t i = 0; i < comparison->n_groups; i++)
                if (!(difference->values[i] = conditions_group_text(condition, runs, n_runs, i)))
                        return ROAST_E_NOMEM;
        return 0;
}

/* Files that are as many and yet not the same */
static int conditions_note_files(struct conditions *conditions, struct compare_run *runs,
                                 size_t n_runs)
{
        int r = 0;

        for (size_t i = 0; i < n_runs && r >= 0; i++) {
                size_t common;
                char *text;

                if (match_count_files(&runs[i].chunks, &runs[0].chunks, &common) < 0 ||
                    asprintf(&text, "%zu of %zu", common, runs[i].chunks.n_files) < 0)
                        return ROAST_E_NOMEM;
                r = conditions_put(conditions, "files that the first has too", i, text);
        }
        return r;
}

int compare_conditions(struct roast_comparison *comparison, struct compare_run *runs, size_t n_runs,
                       struct roast_error *error)
{
        ROAST_CLEANUP(conditions_deinit) struct conditions conditions = { .n_runs = n_runs };
        int r = 0;

        for (size_t i = 0; i < n_runs && r >= 0; i++)
                r = conditions_note_run(&conditions, i, &runs[i], error);
        if (r < 0)
                return r;
        if (conditions_note_files(&conditions, runs, n_runs) < 0)
                return roast_fail_nomem(error);
        for (size_t i = 0; i < conditions.n; i++)
                if (conditions_differs(&conditions.list[i], n_runs) &&
                    conditions_add_difference(comparison, &conditions.list[i], runs, n_runs) < 0)
                        return roast_fail_nomem(error);
        return 0;
}
