/* Series on a common grid: what the documented tracking data are made of */

#include <stdlib.h>
#include <string.h>

#include "run/series.h"
#include "util/cleanup.h"
#include "util/text.h"

#define GRID_MAX (1u << 24)

#define GRID_NONE INT64_MIN       /* nothing new at this instant; not known, in the end */
#define GRID_GONE (INT64_MIN + 1) /* what was known before holds no longer */

struct grid_worker {
        int64_t *values; /* grid->n; NULL: nothing of this worker yet */
        size_t last;     /* the last instant that is known */
};

struct grid_table {
        const struct roast_grid *grid;
        struct intern texts;
        struct grid_worker *workers; /* by text id - 1 */
};

static void grid_table_deinit(struct grid_table *table)
{
        for (size_t i = 0; table->workers && i < table->texts.n; i++)
                free(table->workers[i].values);
        free(table->workers);
        intern_deinit(&table->texts);
}

static int grid_table_init(struct grid_table *table, struct roast_run *run,
                           const struct roast_grid *grid, struct roast_error *error)
{
        int r;

        *table = (struct grid_table){ .grid = grid };
        if (grid->n > GRID_MAX || grid->step_ns <= 0)
                return roast_fail(error, ROAST_E_INVALID, "a grid of %zu instants", grid->n);
        r = run_read_texts(run, &table->texts, error);
        if (r < 0)
                return r;
        table->workers = calloc(table->texts.n + 1, sizeof(*table->workers));
        return table->workers ? 0 : roast_fail_nomem(error);
}

/* The first instant that is not before `utc_ns`; grid->n: none */
static size_t grid_slot_of(const struct roast_grid *grid, int64_t utc_ns)
{
        uint64_t step_ns = (uint64_t)grid->step_ns, after_ns, slot;

        if (utc_ns <= grid->start_utc_ns)
                return 0;
        after_ns = (uint64_t)utc_ns - (uint64_t)grid->start_utc_ns;
        slot = after_ns / step_ns + (after_ns % step_ns != 0);
        return slot < grid->n ? (size_t)slot : grid->n;
}

/* The worker of a text id; NULL: no memory */
static struct grid_worker *grid_worker_of(struct grid_table *table, int64_t text)
{
        struct grid_worker *worker = &table->workers[text - 1];

        if (worker->values)
                return worker;
        worker->values = malloc((table->grid->n + 1) * sizeof(*worker->values));
        for (size_t i = 0; worker->values && i < table->grid->n; i++)
                worker->values[i] = GRID_NONE;
        return worker->values ? worker : NULL;
}

/* Values hold until the next one, up to the last instant that is known. */
static void grid_hold_values(struct grid_worker *worker, size_t n)
{
        int64_t value = GRID_NONE;

        for (size_t i = 0; i <= worker->last && i < n; i++) {
                if (worker->values[i] == GRID_GONE)
                        value = GRID_NONE;
                else if (worker->values[i] != GRID_NONE)
                        value = worker->values[i];
                worker->values[i] = value;
        }
}

/* A counter becomes what it grew by per second; where it began anew, that is not known. */
static void grid_differentiate(struct grid_worker *worker, const struct roast_grid *grid)
{
        for (size_t i = grid->n; i-- > 0;) {
                int64_t now = worker->values[i], before = i ? worker->values[i - 1] : GRID_NONE;
                double rate = -1;

                if (now != GRID_NONE && before != GRID_NONE)
                        rate = ((double)now - (double)before) * 1e9 / (double)grid->step_ns;
                worker->values[i] = rate >= 0 && rate < 0x1p63 ? (int64_t)rate : GRID_NONE;
        }
}

static int grid_deliver(struct grid_table *table, bool rates, roast_series_visitor visit,
                        void *context)
{
        for (size_t i = 0; i < table->texts.n; i++) {
                struct grid_worker *worker = &table->workers[i];
                char *name;
                const char *text;
                size_t len;
                int stop;

                if (!worker->values)
                        continue;
                grid_hold_values(worker, table->grid->n);
                if (rates)
                        grid_differentiate(worker, table->grid);
                text = intern_get(&table->texts, i, &len);
                name = text_copy(text, len);
                if (!name)
                        return ROAST_E_NOMEM;
                stop = visit(name, worker->values, context);
                free(name);
                if (stop)
                        break;
        }
        return 0;
}

static int grid_fill_samples(struct grid_table *table, struct roast_run *run, const char *column,
                             struct roast_error *error)
{
        struct series_walk walk;
        int r;

        r = series_walk_begin(&walk, run, &table->texts, error);
        while (r >= 0 && (r = series_walk_next(&walk, error)) > 0) {
                struct grid_worker *worker;
                int64_t resolution;
                const int64_t *values = series_walk_column(&walk, column, &resolution);

                if (!values)
                        continue;
                worker = grid_worker_of(table, walk.worker_text);
                if (!worker) {
                        r = roast_fail_nomem(error);
                        break;
                }
                for (size_t i = 0; i < walk.block.n; i++) {
                        size_t slot = grid_slot_of(table->grid, series_ns(walk.block.times[i]));
                        int64_t value;

                        if (slot == table->grid->n || values[i] < 0 ||
                            __builtin_mul_overflow(values[i], resolution, &value))
                                continue;
                        worker->values[slot] = value;
                        if (slot > worker->last)
                                worker->last = slot;
                }
        }
        series_walk_end(&walk);
        return r;
}

static int grid_resample(struct roast_run *run, const char *column, bool rates,
                         const struct roast_grid *grid, roast_series_visitor visit, void *context,
                         struct roast_error *error)
{
        ROAST_CLEANUP(grid_table_deinit) struct grid_table table = { 0 };
        int r;

        r = run_view_begin(run, error);
        if (r < 0)
                return r;
        r = grid_table_init(&table, run, grid, error);
        if (r >= 0)
                r = grid_fill_samples(&table, run, column, error);
        run_view_end(run);
        if (r >= 0 && grid_deliver(&table, rates, visit, context) < 0)
                return roast_fail_nomem(error);
        return r;
}

int roast_run_resample(struct roast_run *run, const char *column, const struct roast_grid *grid,
                       roast_series_visitor visit, void *context, struct roast_error *error)
{
        return grid_resample(run, column, false, grid, visit, context, error);
}

int roast_run_resample_rate(struct roast_run *run, const char *column,
                            const struct roast_grid *grid, roast_series_visitor visit,
                            void *context, struct roast_error *error)
{
        return grid_resample(run, column, true, grid, visit, context, error);
}

static int grid_fill_events(struct grid_table *table, struct roast_run *run, size_t column,
                            struct roast_error *error)
{
        struct run_scan scan;
        int r;

        r = run_scan_begin(&scan, run, RUN_WORKER_EVENT, error);
        while (r >= 0 && (r = run_scan_next(&scan, error)) > 0) {
                const struct run_value *values = scan.values;
                size_t slot = grid_slot_of(table->grid, values[WORKER_EVENT_UTC_NS].integer);
                struct grid_worker *worker;

                if (values[WORKER_EVENT_WORKER].integer < 1 ||
                    (uint64_t)values[WORKER_EVENT_WORKER].integer > table->texts.n) {
                        r = roast_fail(error, ROAST_E_CORRUPT,
                                       "%s: is damaged (a row of table worker_event)",
                                       run_label(run));
                        break;
                }
                worker = grid_worker_of(table, values[WORKER_EVENT_WORKER].integer);
                if (!worker) {
                        r = roast_fail_nomem(error);
                        break;
                }
                if (slot == table->grid->n)
                        continue;
                worker->last = table->grid->n - 1;
                if (values[WORKER_EVENT_KIND].integer == ROAST_WORKER_WENT)
                        worker->values[slot] = GRID_GONE;
                else if (values[column].type == RUN_INT)
                        worker->values[slot] = values[column].integer;
        }
        run_scan_end(&scan);
        return r;
}

int roast_run_resample_workers(struct roast_run *run, const char *column,
                               const struct roast_grid *grid, roast_series_visitor visit,
                               void *context, struct roast_error *error)
{
        ROAST_CLEANUP(grid_table_deinit) struct grid_table table = { 0 };
        size_t index = !strcmp(column, "threads") ? 5 : 6;
        int r;

        if (index == 6 && strcmp(column, "memory_limit_bytes"))
                return roast_fail(error, ROAST_E_NOENT, "workers have no '%s'", column);
        r = run_view_begin(run, error);
        if (r < 0)
                return r;
        r = grid_table_init(&table, run, grid, error);
        if (r >= 0)
                r = grid_fill_events(&table, run, index, error);
        run_view_end(run);
        if (r >= 0 && grid_deliver(&table, false, visit, context) < 0)
                return roast_fail_nomem(error);
        return r;
}
