/* Samples of the workers: a row an instant, or the documented layout in JSON */

#include <stdlib.h>
#include <string.h>

#include "export/tracking.h"
#include "run/series.h"
#include "util/cleanup.h"
#include "util/text.h"

/* The names of all series that the run has, without their resolutions */
struct names {
        char **names;
        size_t n;
};

static void series_names_deinit(struct names *names)
{
        for (size_t i = 0; i < names->n; i++)
                free(names->names[i]);
        free(names->names);
}

static int series_add_name(struct names *names, const char *text, size_t len)
{
        char **grown;

        for (size_t i = 0; i < names->n; i++)
                if (strlen(names->names[i]) == len && !memcmp(names->names[i], text, len))
                        return 0;
        grown = realloc(names->names, (names->n + 1) * sizeof(*grown));
        if (!grown)
                return ROAST_E_NOMEM;
        names->names = grown;
        grown[names->n] = text_copy(text, len);
        if (!grown[names->n])
                return ROAST_E_NOMEM;
        names->n++;
        return 0;
}

static int series_add_names(struct names *names, const char *columns, size_t len)
{
        const char *at = columns, *end = columns + len;

        while (at <= end) {
                const char *stop = memchr(at, ',', (size_t)(end - at));
                const char *slash;

                if (!stop)
                        stop = end;
                slash = memchr(at, '/', (size_t)(stop - at));
                if (series_add_name(names, at, (size_t)((slash ? slash : stop) - at)) < 0)
                        return ROAST_E_NOMEM;
                at = stop + 1;
        }
        return 0;
}

/* From which columns blocks are made; the walk that follows compares the rows with their seals. */
static int series_find_names(struct names *names, struct roast_run *run, const struct intern *texts,
                             struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_free) bool *used = calloc(texts->n + 1, sizeof(*used));
        ROAST_CLEANUP(cleanup_free) struct series_block *blocks = NULL;
        size_t n;
        int r;

        if (!used)
                return roast_fail_nomem(error);
        r = series_list(run, 0, &blocks, &n, error);
        for (size_t i = 0; r >= 0 && i < n; i++)
                if (blocks[i].columns_text > 0 && (uint64_t)blocks[i].columns_text <= texts->n)
                        used[blocks[i].columns_text - 1] = true;
        for (size_t i = 0; i < texts->n && r >= 0; i++) {
                size_t len;
                const char *text = intern_get(texts, i, &len);

                if (used[i] && series_add_names(names, text, len) < 0)
                        r = roast_fail_nomem(error);
        }
        return r;
}

/* One column of the current block */
struct column {
        const int64_t *values; /* NULL: the block has it not */
        int64_t resolution;
};

static int series_put_block(struct rows *rows, const struct series_walk *walk,
                            const struct names *names, struct column *columns,
                            struct roast_error *error)
{
        size_t len;
        const char *worker = intern_get(walk->texts, (size_t)walk->worker_text - 1, &len);
        int r = 0;

        for (size_t i = 0; i < names->n; i++)
                columns[i].values =
                        series_walk_column(walk, names->names[i], &columns[i].resolution);
        for (size_t row = 0; row < walk->block.n && r >= 0; row++) {
                rows_row(rows);
                rows_text(rows, worker, len);
                rows_real(rows, (double)walk->block.times[row] / 1000);
                for (size_t i = 0; i < names->n; i++) {
                        int64_t value;

                        if (!columns[i].values || columns[i].values[row] < 0 ||
                            __builtin_mul_overflow(columns[i].values[row], columns[i].resolution,
                                                   &value))
                                rows_absent(rows);
                        else
                                rows_int(rows, value);
                }
                rows_row_end(rows);
                r = out_step(rows->out, error);
        }
        return r;
}

static int series_put_blocks(struct rows *rows, struct roast_run *run, const struct intern *texts,
                             const struct names *names, struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_free)
        struct column *columns = calloc(names->n + 1, sizeof(*columns));
        struct series_walk walk;
        int r;

        if (!columns)
                return roast_fail_nomem(error);
        r = series_walk_begin(&walk, run, texts, error);
        while (r >= 0 && (r = series_walk_next(&walk, error)) > 0)
                r = series_put_block(rows, &walk, names, columns, error);
        series_walk_end(&walk);
        return r;
}

static int series_put_rows(struct roast_run *run, const struct roast_export_options *options,
                           struct out *out, struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_free) struct rows_column *columns = NULL;
        ROAST_CLEANUP(series_names_deinit) struct names names = { 0 };
        ROAST_CLEANUP(intern_deinit) struct intern texts = { 0 };
        struct rows rows;
        int r;

        r = run_read_texts(run, &texts, error);
        if (r >= 0)
                r = series_find_names(&names, run, &texts, error);
        if (r < 0)
                return r;
        columns = calloc(names.n + 2, sizeof(*columns));
        if (!columns)
                return roast_fail_nomem(error);
        columns[0].key = "worker";
        columns[1].key = "timestamp";
        for (size_t i = 0; i < names.n; i++)
                columns[i + 2].key = names.names[i];
        rows_begin(&rows, out, options->format, columns, names.n + 2);
        r = series_put_blocks(&rows, run, &texts, &names, error);
        rows_end(&rows);
        return r;
}

int export_series(struct roast_run *run, const struct roast_export_options *options,
                  struct out *out, struct roast_error *error)
{
        int r;

        if (options->format == ROAST_EXPORT_JSON) {
                r = tracking_put(run, TRACKING_OBJECTS, out, error);
                out_puts(out, "\n");
                return r;
        }
        r = run_view_begin(run, error);
        if (r < 0)
                return r;
        r = series_put_rows(run, options, out, error);
        run_view_end(run);
        return r;
}
