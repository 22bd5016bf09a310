/* Series: adding blocks of samples to a run, and walking over them */

#include <stdlib.h>
#include <string.h>

#include "run/series.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/text.h"

static size_t series_count_columns(const char *columns, size_t len)
{
        size_t n = 1;

        for (size_t i = 0; i < len; i++)
                n += columns[i] == ',';
        return n;
}

/*
 * Only the times are looked at: a cluster of thousands of workers sends more
 * values than a client can check beside its work. A block that turns out to be
 * damaged is passed over by whoever reads it, and counted.
 */
static int series_add_block(struct roast_run *run, const char *worker, const char *columns,
                            const char *clock, const void *data, size_t len,
                            struct roast_error *error)
{
        ROAST_CLEANUP(block_deinit) struct block block = BLOCK_INIT;
        ROAST_CLEANUP(buf_deinit) struct buf moved = BUF_INIT;
        int64_t worker_text, columns_text, offset_ms, start_ms, stop_ms;
        size_t columns_len = strlen(columns),
               n_columns = series_count_columns(columns, columns_len);
        int r;

        r = block_decode_times(&block, data, len, error);
        if (r < 0)
                return r;
        if (block.n == 0)
                return 0;
        if (block.k != n_columns)
                return roast_fail(error, ROAST_E_INVALID, "%zu series with %zu names", block.k,
                                  n_columns);
        offset_ms = run_clock_offset(run, clock, strlen(clock)) / SERIES_MS;
        start_ms = run_clock_correct(block.times[0], offset_ms);
        stop_ms = run_clock_correct(block.times[block.n - 1], offset_ms);
        if (offset_ms) {
                r = block_move(&moved, data, len, start_ms - block.times[0], error);
                if (r < 0)
                        return r;
                data = moved.data;
                len = moved.len;
        }
        worker_text = run_text(run, worker, strlen(worker), error);
        if (worker_text < 0)
                return (int)worker_text;
        columns_text = run_text(run, columns, columns_len, error);
        if (columns_text < 0)
                return (int)columns_text;
        return run_insert(run, RUN_SERIES,
                          (struct run_value[]){
                                  run_int(worker_text),
                                  run_int(columns_text),
                                  run_int(series_ns(start_ms)),
                                  run_int(series_ns(stop_ms)),
                                  run_int((int64_t)block.n),
                                  { .type = RUN_BYTES, .data = data, .len = len },
                          },
                          6, error);
}

int roast_run_add_series(struct roast_run *run, const char *worker, const char *columns,
                         const void *data, size_t len, struct roast_error *error)
{
        return series_add_block(run, worker, columns, worker, data, len, error);
}

int roast_run_add_value(struct roast_run *run, const char *worker, const char *column,
                        const char *clock, int64_t utc_ms, int64_t value, struct roast_error *error)
{
        ROAST_CLEANUP(buf_deinit) struct buf block = BUF_INIT;
        int r;

        r = block_encode(&block, &utc_ms, (const int64_t *[]){ &value }, 1, 1, error);
        if (r < 0)
                return r;
        return series_add_block(run, worker, column, clock, block.data, block.len, error);
}

int run_read_texts(struct roast_run *run, struct intern *texts, struct roast_error *error)
{
        struct run_scan scan;
        int r;

        r = run_scan_begin(&scan, run, RUN_TEXT, error);
        while (r >= 0 && (r = run_scan_next(&scan, error)) > 0)
                if (intern_append(texts, scan.values[TEXT_VALUE].data,
                                  scan.values[TEXT_VALUE].len) < 0)
                        r = roast_fail_nomem(error);
        run_scan_end(&scan);
        return r;
}

int series_walk_begin(struct series_walk *walk, struct roast_run *run, const struct intern *texts,
                      struct roast_error *error)
{
        int r = 0;

        memset(walk, 0, sizeof(*walk));
        walk->texts = texts ? texts : &walk->own;
        if (!texts)
                r = run_read_texts(run, &walk->own, error);
        return r < 0 ? r : run_scan_begin(&walk->scan, run, RUN_SERIES, error);
}

int series_walk_begin_any(struct series_walk *walk, struct roast_run *run,
                          const struct intern *texts, struct roast_error *error)
{
        memset(walk, 0, sizeof(*walk));
        walk->texts = texts;
        return run_scan_skim(&walk->scan, run, RUN_SERIES, SERIES_N_COLUMNS, error);
}

void series_walk_end(struct series_walk *walk)
{
        run_scan_end(&walk->scan);
        block_deinit(&walk->block);
        intern_deinit(&walk->own);
}

static bool series_is_text(const struct series_walk *walk, const struct run_value *value)
{
        return value->type == RUN_INT && value->integer >= 1 &&
               (uint64_t)value->integer <= walk->texts->n;
}

char *series_walk_text(const struct series_walk *walk, const struct run_value *value)
{
        size_t len;
        const char *text;

        if (!series_is_text(walk, value))
                return NULL;
        text = intern_get(walk->texts, (size_t)value->integer - 1, &len);
        return text_copy(text, len);
}

static int series_decode(struct series_walk *walk, const void *data, size_t len,
                         struct roast_error *error)
{
        struct roast_error own = { 0 };
        int r = block_decode(&walk->block, data, len, &own);

        if (r == ROAST_E_FORMAT || r == ROAST_E_CORRUPT) {
                walk->n_damaged++;
                return 0;
        }
        if (r < 0 && error)
                *error = own;
        return r < 0 ? r : 1;
}

/* The row of the scan, decoded; 0: it cannot be. */
static int series_decode_row(struct series_walk *walk, struct roast_error *error)
{
        const struct run_value *values = walk->scan.values;

        if (!series_is_text(walk, &values[SERIES_WORKER]) ||
            !series_is_text(walk, &values[SERIES_COLUMNS]) ||
            values[SERIES_BLOCK].type != RUN_BYTES)
                return roast_fail(error, ROAST_E_CORRUPT, "%s: is damaged (a row of table series)",
                                  run_label(walk->scan.run));
        walk->worker_text = values[SERIES_WORKER].integer;
        walk->columns = intern_get(walk->texts, (size_t)values[SERIES_COLUMNS].integer - 1,
                                   &walk->columns_len);
        return series_decode(walk, values[SERIES_BLOCK].data, values[SERIES_BLOCK].len, error);
}

int series_walk_read(struct series_walk *walk, int64_t id, struct roast_error *error)
{
        int r;

        run_scan_seek(&walk->scan, id);
        r = run_scan_next(&walk->scan, error);
        return r > 0 ? series_decode_row(walk, error) : r;
}

int series_walk_next(struct series_walk *walk, struct roast_error *error)
{
        int r;

        while ((r = run_scan_next(&walk->scan, error)) > 0 &&
               (r = series_decode_row(walk, error)) == 0)
                ;
        return r;
}

int series_walk_next_of(struct series_walk *walk, int64_t worker_text, struct roast_error *error)
{
        int r;

        while ((r = run_scan_next(&walk->scan, error)) > 0)
                if (walk->scan.values[SERIES_WORKER].integer == worker_text &&
                    (r = series_decode_row(walk, error)) != 0)
                        break;
        return r;
}

int series_list(struct roast_run *run, int64_t after, struct series_block **ret, size_t *n,
                struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_free) struct series_block *blocks = NULL;
        size_t cap = 0;
        struct run_scan scan;
        int r;

        *n = 0;
        r = run_scan_skim(&scan, run, RUN_SERIES, SERIES_STOP_UTC_NS + 1, error);
        if (r >= 0 && after > 0)
                run_scan_seek(&scan, after + 1);
        while (r >= 0 && (r = run_scan_next(&scan, error)) > 0) {
                if (ARRAY_ROOM(blocks, *n, cap) < 0) {
                        r = roast_fail_nomem(error);
                        break;
                }
                blocks[(*n)++] = (struct series_block){
                        .id = scan.id,
                        .worker_text = run_int_or(&scan.values[SERIES_WORKER], 0),
                        .columns_text = run_int_or(&scan.values[SERIES_COLUMNS], 0),
                        .start_utc_ns = run_int_or(&scan.values[SERIES_START_UTC_NS], INT64_MIN),
                        .stop_utc_ns = run_int_or(&scan.values[SERIES_STOP_UTC_NS], INT64_MIN),
                };
        }
        run_scan_end(&scan);
        *ret = r < 0 ? NULL : blocks;
        if (r >= 0)
                blocks = NULL;
        return r;
}

/* The number between two places; the text has no end of its own. */
static int64_t series_number(const char *at, const char *stop)
{
        int64_t value = 0;

        for (; at < stop && *at >= '0' && *at <= '9' && value < INT64_MAX / 100; at++)
                value = value * 10 + (*at - '0');
        return value;
}

int series_column(const char *columns, size_t columns_len, const char *name, int64_t *resolution)
{
        const char *at = columns, *end = at + columns_len;
        size_t len = strlen(name);

        for (int i = 0; i < BLOCK_SERIES_MAX; i++) {
                const char *stop = memchr(at, ',', (size_t)(end - at)), *slash;

                if (!stop)
                        stop = end;
                slash = memchr(at, '/', (size_t)(stop - at));
                if ((size_t)((slash ? slash : stop) - at) == len && !memcmp(at, name, len)) {
                        *resolution = slash ? series_number(slash + 1, stop) : 1;
                        return i;
                }
                if (stop == end)
                        break;
                at = stop + 1;
        }
        return -1;
}

const int64_t *series_walk_column(const struct series_walk *walk, const char *name,
                                  int64_t *resolution)
{
        int i = series_column(walk->columns, walk->columns_len, name, resolution);

        return i < 0 || (size_t)i >= walk->block.k ? NULL : block_series(&walk->block, (size_t)i);
}
