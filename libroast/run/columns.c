/* Tables of a run by columns, its series by name, and its spans */

#include <stdlib.h>
#include <string.h>

#include "run/series.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/size.h"

static int columns_find_table(const char *name)
{
        for (int i = 1; i < RUN_N_TABLES; i++)
                if (!strcmp(run_tables[i].name, name))
                        return i;
        return ROAST_E_NOENT;
}

/* Where a column stands among those of its table; "id" is none of them */
static int columns_find(const struct run_table_info *table, const char *name)
{
        for (size_t i = 0; i < table->n_columns; i++)
                if (!strcmp(table->infos[i].stored, name))
                        return (int)i;
        return ROAST_E_NOENT;
}

bool roast_run_table(int number, struct roast_table_info *table)
{
        const struct run_table_info *info = &run_tables[number];

        if (number < 1 || number >= RUN_N_TABLES)
                return false;
        *table = (struct roast_table_info){ info->name, info->row, info->since, info->infos,
                                            info->n_columns };
        return true;
}

/* A number that grows with the rows */
static int columns_put(struct roast_run_column *column, size_t *cap, int64_t value)
{
        if (ARRAY_ROOM(column->values, column->n, *cap) < 0)
                return ROAST_E_NOMEM;
        column->values[column->n++] = value;
        return 0;
}

static int columns_read_rows(struct run_scan *scan, struct roast_run_column *columns, size_t n,
                             const int *places, struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_free) size_t *caps = calloc(n + 1, sizeof(*caps));
        int r = 0;

        if (!caps)
                return roast_fail_nomem(error);
        while (r >= 0 && (r = run_scan_next(scan, error)) > 0)
                for (size_t i = 0; i < n && r >= 0; i++) {
                        const struct run_value *value = &scan->values[places[i]];

                        if (columns_put(&columns[i], &caps[i],
                                        value->type == RUN_INT ? value->integer : INT64_MIN) < 0)
                                r = roast_fail_nomem(error);
                }
        return r;
}

int roast_run_read_columns(struct roast_run *run, const char *table,
                           struct roast_run_column *columns, size_t n, struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_free) int *places = calloc(n + 1, sizeof(*places));
        struct run_scan scan;
        int number = columns_find_table(table), r;

        if (!places)
                return roast_fail_nomem(error);
        if (number < 0)
                return roast_fail(error, ROAST_E_NOENT, "there is no table '%s'", table);
        for (size_t i = 0; i < n; i++) {
                columns[i].values = NULL;
                columns[i].n = 0;
                places[i] = columns_find(&run_tables[number], columns[i].name);
                if (places[i] < 0)
                        return roast_fail(error, ROAST_E_NOENT, "table %s has no column '%s'",
                                          table, columns[i].name);
        }
        r = run_view_begin(run, error);
        if (r < 0)
                return r;
        r = run_scan_begin(&scan, run, (enum run_table)number, error);
        if (r >= 0)
                r = columns_read_rows(&scan, columns, n, places, error);
        run_scan_end(&scan);
        run_view_end(run);
        for (size_t i = 0; i < n && r < 0; i++) {
                free(columns[i].values);
                columns[i].values = NULL;
        }
        return r;
}

int roast_run_texts(struct roast_run *run,
                    int (*visit)(const char *text, size_t len, void *context), void *context,
                    struct roast_error *error)
{
        struct run_scan scan;
        int r;

        r = run_view_begin(run, error);
        if (r < 0)
                return r;
        r = run_scan_begin(&scan, run, RUN_TEXT, error);
        while (r >= 0 && (r = run_scan_next(&scan, error)) > 0)
                if (visit(scan.values[TEXT_VALUE].data, scan.values[TEXT_VALUE].len, context))
                        break;
        run_scan_end(&scan);
        run_view_end(run);
        return r < 0 ? r : 0;
}

int roast_run_spans(struct roast_run *run, int (*visit)(const struct roast_span *span, void *),
                    void *context, struct roast_error *error)
{
        struct run_scan scan;
        int r;

        r = run_view_begin(run, error);
        if (r < 0)
                return r;
        r = run_scan_begin(&scan, run, RUN_SPAN, error);
        while (r >= 0 && (r = run_scan_next(&scan, error)) > 0) {
                const struct run_value *values = scan.values;
                struct roast_span span = { .value = values[SPAN_VALUE].type == RUN_REAL
                                                            ? values[SPAN_VALUE].real
                                                            : (double)NAN };
                const char **texts[] = { &span.kind, &span.prefix, &span.activity, &span.unit };

                /* SQLite's texts end in a NUL */
                for (size_t i = 0; i < ROAST_ARRAY_SIZE(texts); i++)
                        *texts[i] = values[i].type == RUN_STRING ? values[i].data : NULL;
                if (visit(&span, context))
                        break;
        }
        run_scan_end(&scan);
        run_view_end(run);
        return r < 0 ? r : 0;
}

int roast_run_series_names(struct roast_run *run,
                           int (*visit)(const char *worker, const char *columns, void *context),
                           void *context, struct roast_error *error)
{
        ROAST_CLEANUP(run_seen_deinit) struct run_seen seen = { 0 };
        struct series_walk walk;
        int r;

        r = run_view_begin(run, error);
        if (r < 0)
                return r;
        r = series_walk_begin(&walk, run, NULL, error);
        while (r >= 0 && (r = run_scan_next(&walk.scan, error)) > 0) {
                const struct run_value *values = walk.scan.values;
                uint64_t key = run_hash(0, &values[SERIES_WORKER].integer, sizeof(int64_t));
                ROAST_CLEANUP(cleanup_free) char *worker = NULL;
                ROAST_CLEANUP(cleanup_free) char *columns = NULL;

                r = run_seen_add(&seen,
                                 run_hash(key, &values[SERIES_COLUMNS].integer, sizeof(int64_t)));
                if (r == 0) {
                        r = 1;
                        continue;
                }
                worker = r < 0 ? NULL : series_walk_text(&walk, &values[SERIES_WORKER]);
                columns = worker ? series_walk_text(&walk, &values[SERIES_COLUMNS]) : NULL;
                if (!columns)
                        r = roast_fail_nomem(error);
                else if (visit(worker, columns, context))
                        break;
        }
        series_walk_end(&walk);
        run_view_end(run);
        return r < 0 ? r : 0;
}

/* The id of a string, or 0 */
static int64_t columns_text_id(const struct intern *texts, const char *text)
{
        return intern_find(texts, text, strlen(text)) + 1;
}

int roast_run_read_series(struct roast_run *run, const char *worker, const char *name,
                          struct roast_run_column *times, struct roast_run_column *values,
                          struct roast_error *error)
{
        struct series_walk walk;
        size_t times_cap = 0, values_cap = 0;
        int64_t wanted;
        int r;

        times->values = values->values = NULL;
        times->n = values->n = 0;
        r = run_view_begin(run, error);
        if (r < 0)
                return r;
        r = series_walk_begin(&walk, run, NULL, error);
        if (r >= 0 && intern_index(&walk.own) < 0)
                r = roast_fail_nomem(error);
        wanted = r < 0 ? 0 : columns_text_id(&walk.own, worker);
        while (r >= 0 && (r = series_walk_next_of(&walk, wanted, error)) > 0) {
                int64_t unit;
                const int64_t *column = series_walk_column(&walk, name, &unit);

                for (size_t i = 0; column && i < walk.block.n && r >= 0; i++) {
                        int64_t value = column[i];

                        /* what is out of range is not known */
                        if (value < 0 || __builtin_mul_overflow(value, unit, &value))
                                value = INT64_MIN;
                        if (columns_put(times, &times_cap, series_ns(walk.block.times[i])) < 0 ||
                            columns_put(values, &values_cap, value) < 0)
                                r = roast_fail_nomem(error);
                }
        }
        series_walk_end(&walk);
        run_view_end(run);
        if (r < 0) {
                free(times->values);
                free(values->values);
                times->values = values->values = NULL;
        }
        return r;
}
