/*
 * The workers as they are now: see roast-metrics.h.
 *
 * An update reads the rows that came since the last one; of the blocks of a
 * worker only the last is decoded.
 */

#include <stdlib.h>
#include <string.h>

#include "run/series.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/text.h"

struct roast_workers {
        struct roast_worker_now *workers;
        size_t n;
        size_t cap;
        struct intern texts; /* of the run */
        size_t *slots;       /* by the id of the name: index + 1, or 0 */
        size_t n_slots;
        int64_t last_event;
        int64_t last_series;
};

struct roast_workers *roast_workers_new(void)
{
        return calloc(1, sizeof(struct roast_workers));
}

void roast_workers_free(struct roast_workers *workers)
{
        if (!workers)
                return;
        for (size_t i = 0; i < workers->n; i++)
                free(workers->workers[i].name);
        free(workers->workers);
        free(workers->slots);
        intern_deinit(&workers->texts);
        free(workers);
}

const struct roast_worker_now *roast_workers_all(const struct roast_workers *workers, size_t *n)
{
        *n = workers->n;
        return workers->workers;
}

static int workers_make_slots(struct roast_workers *workers, size_t n)
{
        size_t *grown;

        if (n <= workers->n_slots)
                return 0;
        n += n / 2 + 64;
        grown = realloc(workers->slots, n * sizeof(*grown));
        if (!grown)
                return ROAST_E_NOMEM;
        memset(grown + workers->n_slots, 0, (n - workers->n_slots) * sizeof(*grown));
        workers->slots = grown;
        workers->n_slots = n;
        return 0;
}

static int workers_read_texts(struct roast_workers *workers, struct roast_run *run,
                              struct roast_error *error)
{
        struct run_scan scan;
        int r;

        r = run_scan_skim(&scan, run, RUN_TEXT, 1, error);
        if (r >= 0)
                run_scan_seek(&scan, (int64_t)workers->texts.n + 1);
        while (r >= 0 && (r = run_scan_next(&scan, error)) > 0)
                if (intern_append(&workers->texts, scan.values[0].data, scan.values[0].len) < 0)
                        r = roast_fail_nomem(error);
        run_scan_end(&scan);
        return r < 0 || workers_make_slots(workers, workers->texts.n) >= 0
                       ? r
                       : roast_fail_nomem(error);
}

/* The place of the worker with that name; a new one is here as soon as it says anything. */
static int64_t workers_find(struct roast_workers *workers, struct roast_run *run, int64_t text,
                            struct roast_error *error)
{
        struct roast_worker_now *worker;
        const char *name;
        size_t len;

        if (text < 1 || (uint64_t)text > workers->texts.n)
                return roast_fail(error, ROAST_E_CORRUPT,
                                  "%s: is damaged (a worker without a name)", run_label(run));
        if (workers->slots[text - 1])
                return (int64_t)workers->slots[text - 1] - 1;
        if (ARRAY_ROOM(workers->workers, workers->n, workers->cap) < 0)
                return roast_fail_nomem(error);
        name = intern_get(&workers->texts, (size_t)text - 1, &len);
        worker = &workers->workers[workers->n];
        *worker = (struct roast_worker_now){ .name = text_copy(name, len),
                                             .here = true,
                                             .threads = -1,
                                             .memory_limit_bytes = -1,
                                             .rss_bytes = -1,
                                             .sampled_utc_ns = INT64_MIN };
        if (!worker->name)
                return roast_fail_nomem(error);
        workers->slots[text - 1] = ++workers->n;
        return (int64_t)workers->n - 1;
}

static int workers_note_event(struct roast_workers *workers, const struct run_scan *scan,
                              struct roast_error *error)
{
        const struct run_value *values = scan->values;
        int64_t at = workers_find(workers, scan->run, run_int_or(&values[WORKER_EVENT_WORKER], 0),
                                  error);
        struct roast_worker_now *worker;

        if (at < 0)
                return (int)at;
        worker = &workers->workers[at];
        worker->here = values[WORKER_EVENT_KIND].integer != ROAST_WORKER_WENT;
        if (worker->here) {
                worker->threads = run_int_or(&values[WORKER_EVENT_THREADS], -1);
                worker->memory_limit_bytes =
                        run_int_or(&values[WORKER_EVENT_MEMORY_LIMIT_BYTES], -1);
        }
        workers->last_event = scan->id;
        return 0;
}

static int workers_read_events(struct roast_workers *workers, struct roast_run *run,
                               struct roast_error *error)
{
        struct run_scan scan;
        int r;

        r = run_scan_skim(&scan, run, RUN_WORKER_EVENT, WORKER_EVENT_N_COLUMNS, error);
        if (r >= 0)
                run_scan_seek(&scan, workers->last_event + 1);
        while (r >= 0 && (r = run_scan_next(&scan, error)) > 0)
                r = workers_note_event(workers, &scan, error);
        run_scan_end(&scan);
        return r;
}

/* The last known memory in a block */
static void workers_note_block(struct roast_worker_now *worker, const struct series_walk *walk)
{
        int64_t resolution;
        const int64_t *rss = series_walk_column(walk, "rss_bytes", &resolution);

        for (size_t i = walk->block.n; rss && i-- > 0;) {
                int64_t bytes;

                if (rss[i] < 0 || __builtin_mul_overflow(rss[i], resolution, &bytes))
                        continue;
                worker->rss_bytes = bytes;
                worker->sampled_utc_ns = series_ns(walk->block.times[i]);
                return;
        }
}

/* By worker and columns, and then the last first */
static int workers_by_kind(const void *a, const void *b)
{
        const struct series_block *x = a, *y = b;

        if (x->worker_text != y->worker_text)
                return x->worker_text < y->worker_text ? -1 : 1;
        if (x->columns_text != y->columns_text)
                return x->columns_text < y->columns_text ? -1 : 1;
        return x->id > y->id ? -1 : x->id < y->id;
}

static int workers_by_id(const void *a, const void *b)
{
        const struct series_block *x = a, *y = b;

        return x->id < y->id ? -1 : x->id > y->id;
}

/* The last block of each worker and columns, in their order; returns how many. */
static size_t workers_keep_last(struct series_block *blocks, size_t n)
{
        size_t kept = 0;

        qsort(blocks, n, sizeof(*blocks), workers_by_kind);
        for (size_t i = 0; i < n; i++)
                if (kept == 0 || blocks[i].worker_text != blocks[kept - 1].worker_text ||
                    blocks[i].columns_text != blocks[kept - 1].columns_text)
                        blocks[kept++] = blocks[i];
        qsort(blocks, kept, sizeof(*blocks), workers_by_id);
        return kept;
}

static int workers_read_series(struct roast_workers *workers, struct roast_run *run,
                               struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_free) struct series_block *blocks = NULL;
        struct series_walk walk;
        size_t n = 0;
        int r;

        r = series_list(run, workers->last_series, &blocks, &n, error);
        if (r < 0 || n == 0)
                return r;
        n = workers_keep_last(blocks, n);
        r = series_walk_begin_any(&walk, run, &workers->texts, error);
        for (size_t i = 0; i < n && r >= 0; i++) {
                int64_t at = workers_find(workers, run, blocks[i].worker_text, error);

                r = at < 0 ? (int)at : series_walk_read(&walk, blocks[i].id, error);
                if (r > 0)
                        workers_note_block(&workers->workers[at], &walk);
                workers->last_series = blocks[i].id;
        }
        series_walk_end(&walk);
        return r < 0 ? r : 0;
}

int roast_workers_update(struct roast_workers *workers, struct roast_run *run,
                         struct roast_error *error)
{
        int r;

        r = run_view_begin(run, error);
        if (r < 0)
                return r;
        r = workers_read_texts(workers, run, error);
        if (r >= 0)
                r = workers_read_events(workers, run, error);
        if (r >= 0)
                r = workers_read_series(workers, run, error);
        run_view_end(run);
        return r;
}
