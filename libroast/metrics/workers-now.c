/*
 * The workers as they are now: see roast-metrics.h.
 *
 * An update reads the rows that came since the last one; of the blocks of a
 * worker only the last is decoded.
 */

#include <stdlib.h>
#include <string.h>

#include "roast-metrics.h"
#include "run/series.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/text.h"

struct roast_workers {
        struct roast_worker_now *workers;
        size_t n;
        size_t cap;
        size_t *slots; /* by the id of the name: index + 1, or 0 */
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
        free(workers);
}

const struct roast_worker_now *roast_workers_all(const struct roast_workers *workers, size_t *n)
{
        *n = workers->n;
        return workers->workers;
}

/* More strings than any run has; a damaged id is not one to make room for. */
#define TEXT_MAX (1 << 26)

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

static int workers_read_name(struct roast_run *run, int64_t text, char **ret,
                             struct roast_error *error)
{
        sqlite3_stmt *stmt = NULL;
        int rc;

        rc = sqlite3_prepare_v2(run->db, "SELECT value FROM text WHERE id=?", -1, &stmt, NULL);
        if (rc == SQLITE_OK)
                rc = sqlite3_bind_int64(stmt, 1, text);
        if (rc == SQLITE_OK)
                rc = sqlite3_step(stmt);
        if (rc == SQLITE_ROW && sqlite3_column_text(stmt, 0))
                *ret = text_copy(sqlite3_column_text(stmt, 0),
                                 (size_t)sqlite3_column_bytes(stmt, 0));
        sqlite3_finalize(stmt);
        if (rc != SQLITE_ROW && rc != SQLITE_DONE)
                return run_fail_sqlite(run, rc, "cannot be read", error);
        if (rc == SQLITE_DONE)
                return roast_fail(error, ROAST_E_CORRUPT,
                                  "%s: is damaged (a worker without a name)", run_label(run));
        return *ret ? 0 : roast_fail_nomem(error);
}

/* The place of the worker with that name; a new one is here as soon as it says anything. */
static int64_t workers_find(struct roast_workers *workers, struct roast_run *run, int64_t text,
                            struct roast_error *error)
{
        struct roast_worker_now *worker;
        int r;

        if (text < 1 || text > TEXT_MAX)
                return roast_fail(error, ROAST_E_CORRUPT,
                                  "%s: is damaged (a worker without a name)", run_label(run));
        if (workers_make_slots(workers, (size_t)text) < 0)
                return roast_fail_nomem(error);
        if (workers->slots[text - 1])
                return (int64_t)workers->slots[text - 1] - 1;
        if (ARRAY_ROOM(workers->workers, workers->n, workers->cap) < 0)
                return roast_fail_nomem(error);
        worker = &workers->workers[workers->n];
        *worker = (struct roast_worker_now){ .here = true,
                                             .threads = -1,
                                             .memory_limit_bytes = -1,
                                             .rss_bytes = -1,
                                             .sampled_utc_ns = INT64_MIN };
        r = workers_read_name(run, text, &worker->name, error);
        if (r < 0)
                return r;
        workers->slots[text - 1] = ++workers->n;
        return (int64_t)workers->n - 1;
}

static int64_t workers_int_or_unknown(sqlite3_stmt *stmt, int column)
{
        return sqlite3_column_type(stmt, column) == SQLITE_INTEGER
                       ? sqlite3_column_int64(stmt, column)
                       : -1;
}

static int workers_read_events(struct roast_workers *workers, struct roast_run *run,
                               struct roast_error *error)
{
        sqlite3_stmt *stmt = NULL;
        int64_t at = 0;
        int rc;

        rc = sqlite3_prepare_v2(run->db,
                                "SELECT id,worker_text,kind,threads,memory_limit_bytes FROM"
                                " worker_event WHERE id>? ORDER BY id",
                                -1, &stmt, NULL);
        if (rc == SQLITE_OK)
                rc = sqlite3_bind_int64(stmt, 1, workers->last_event);
        while (rc == SQLITE_OK && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
                struct roast_worker_now *worker;

                at = workers_find(workers, run, sqlite3_column_int64(stmt, 1), error);
                rc = SQLITE_OK;
                if (at < 0)
                        break;
                worker = &workers->workers[at];
                worker->here = sqlite3_column_int64(stmt, 2) != ROAST_WORKER_WENT;
                if (worker->here) {
                        worker->threads = workers_int_or_unknown(stmt, 3);
                        worker->memory_limit_bytes = workers_int_or_unknown(stmt, 4);
                }
                workers->last_event = sqlite3_column_int64(stmt, 0);
        }
        sqlite3_finalize(stmt);
        if (at < 0)
                return (int)at;
        return rc == SQLITE_DONE ? 0 : run_fail_sqlite(run, rc, "cannot be read", error);
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

static int workers_read_block(struct roast_workers *workers, struct roast_run *run,
                              sqlite3_stmt *stmt, struct series_walk *walk,
                              struct roast_error *error)
{
        int64_t at = workers_find(workers, run, sqlite3_column_int64(stmt, 1), error);
        int r;

        if (at < 0)
                return (int)at;
        if (sqlite3_column_int64(stmt, 0) > workers->last_series)
                workers->last_series = sqlite3_column_int64(stmt, 0);
        walk->columns = (const char *)sqlite3_column_text(stmt, 2);
        walk->columns_len = (size_t)sqlite3_column_bytes(stmt, 2);
        if (!walk->columns)
                return 0;
        r = series_walk_decode(walk, sqlite3_column_blob(stmt, 3),
                               (size_t)sqlite3_column_bytes(stmt, 3), error);
        if (r > 0)
                workers_note_block(&workers->workers[at], walk);
        return r < 0 ? r : 0;
}

static int workers_read_series(struct roast_workers *workers, struct roast_run *run,
                               struct roast_error *error)
{
        struct series_walk walk = { 0 };
        sqlite3_stmt *stmt = NULL;
        int rc, r = 0;

        rc = sqlite3_prepare_v2(run->db,
                                "SELECT id,worker_text,(SELECT value FROM text WHERE"
                                " text.id=columns_text),block FROM series WHERE id IN (SELECT"
                                " max(id) FROM series WHERE id>? GROUP BY"
                                " worker_text,columns_text) ORDER BY id",
                                -1, &stmt, NULL);
        if (rc == SQLITE_OK)
                rc = sqlite3_bind_int64(stmt, 1, workers->last_series);
        while (rc == SQLITE_OK && r >= 0 && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
                r = workers_read_block(workers, run, stmt, &walk, error);
                rc = SQLITE_OK;
        }
        sqlite3_finalize(stmt);
        block_deinit(&walk.block);
        return r < 0 || rc == SQLITE_DONE ? r : run_fail_sqlite(run, rc, "cannot be read", error);
}

int roast_workers_update(struct roast_workers *workers, struct roast_run *run,
                         struct roast_error *error)
{
        int r;

        r = run_view_begin(run, error);
        if (r < 0)
                return r;
        r = workers_read_events(workers, run, error);
        if (r >= 0)
                r = workers_read_series(workers, run, error);
        run_view_end(run);
        return r;
}
