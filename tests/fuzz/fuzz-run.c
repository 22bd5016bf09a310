/*
 * Runs from any bytes
 *
 * An even first byte: the rest is a run file. It is refused with a message, or
 * has figures; the file itself stays as it was.
 * An odd one: the rest are rows of any shape with seals that fit, as another
 * program could write them. The summary, the tables and the JSON of them come
 * out, or an error; so do their chunk records and their series, what explains
 * them and what is predicted from them.
 */

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "roast-explain.h"
#include "roast-predict.h"
#include "roast-show.h"
#include "run/attempts.h"
#include "util/cleanup.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int r, const struct roast_error *error)
{
        if (r < 0 && (error->code != r || !error->message[0]))
                abort();
}

static int take_series(const char *worker, const int64_t *values, void *context)
{
        (void)worker;
        (void)values;
        (void)context;
        return 0;
}

static int take_attempt(const struct run_attempt *attempt, void *context, struct roast_error *error)
{
        (void)context;
        if (attempt->outcome < 0 || attempt->chunk[CHUNK_OUTCOME].type == RUN_BYTES)
                return 0;
        return attempt->task_id || attempt->chunk_id
                       ? 0
                       : roast_fail(error, ROAST_E_STATE, "from nowhere");
}

static void look_at_rows(struct roast_run *run)
{
        const struct roast_grid grid = { 0, 1000000000, 20 };
        struct roast_error error = { 0 };
        void *data = NULL;
        size_t len;

        check(roast_run_encode_chunks(run, &data, &len, &error), &error);
        free(data);
        if (roast_run_attempts(run, take_attempt, NULL, &error) == ROAST_E_STATE)
                abort();
        check(roast_run_resample(run, "rss_bytes", &grid, take_series, NULL, &error), &error);
        check(roast_run_resample_workers(run, "threads", &grid, take_series, NULL, &error), &error);
}

static void look_at_causes(struct roast_run *run)
{
        ROAST_CLEANUP(roast_explanation_deinit) struct roast_explanation explanation = { 0 };
        ROAST_CLEANUP(cleanup_free) char *json = NULL;
        ROAST_CLEANUP(cleanup_free) char *text = NULL;
        const struct roast_explain_view view = { .all = true };
        struct roast_error error = { 0 };
        int r = roast_explain(&explanation, run, &error);

        check(r, &error);
        if (r < 0)
                return;
        check(roast_explanation_to_json(&json, &explanation, &error), &error);
        check(roast_explanation_to_text(&text, &explanation, &view, &error), &error);
}

static void look_ahead(struct roast_run *run)
{
        ROAST_CLEANUP(roast_forecast_deinit) struct roast_forecast forecast = { 0 };
        ROAST_CLEANUP(cleanup_free) char *json = NULL;
        static const int64_t workers[] = { 1, 50 };
        const struct roast_predict_options options = { .workers = workers, .n_workers = 2 };
        struct roast_error error = { 0 };
        int r = roast_predict(&forecast, run, &options, &error);

        check(r, &error);
        if (r >= 0)
                check(roast_forecast_to_json(&json, &forecast, &error), &error);
}

static void look(struct roast_run *run)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary = { 0 };
        ROAST_CLEANUP(roast_tables_deinit) struct roast_tables tables = { 0 };
        ROAST_CLEANUP(cleanup_free) char *json = NULL;
        struct roast_error error = { 0 };
        struct roast_run_about about;
        int r;

        look_at_rows(run);
        look_at_causes(run);
        look_ahead(run);
        r = roast_run_about(run, &about, &error);
        check(r, &error);
        r = roast_summary_of_run(&summary, run, &error);
        check(r, &error);
        if (r < 0)
                return;
        r = roast_tables_make(&tables, &summary, &error);
        check(r, &error);
        if (r < 0)
                return;
        r = roast_show_to_json(&json, run, &summary, &tables, &error);
        check(r, &error);
        for (size_t i = 0; i < tables.n; i++) {
                ROAST_CLEANUP(cleanup_free) char *csv = NULL;
                ROAST_CLEANUP(cleanup_free) char *markdown = NULL;

                check(roast_table_to_csv(&csv, &tables.tables[i], &error), &error);
                check(roast_table_to_markdown(&markdown, &tables.tables[i], &error), &error);
        }
}

static void try_file(const uint8_t *data, size_t size)
{
        struct roast_error error = { 0 };
        struct roast_run *run = NULL;
        char path[64];
        int fd, r;

        snprintf(path, sizeof(path), "/dev/shm/fuzz-run-%ld.roast", (long)getpid());
        fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        if (fd < 0)
                return;
        if (write(fd, data, size) == (ssize_t)size) {
                r = roast_run_open(&run, path, &error);
                check(r, &error);
                if (r >= 0)
                        look(run);
                roast_run_free(run);
        }
        close(fd);
        unlink(path);
}

/* One byte for the type, then what it needs; zeroes where the input ends. */
static struct run_value take_value(struct cursor *in)
{
        struct run_value value = { .type = cursor_u8(in) % 5 };
        size_t len;

        if (value.type == RUN_INT)
                value.integer = cursor_zigzag(in);
        else if (value.type == RUN_REAL)
                value = run_real(cursor_f64(in));
        if (value.type != RUN_STRING && value.type != RUN_BYTES)
                return value;
        len = cursor_u8(in);
        if (len > cursor_left(in))
                len = cursor_left(in);
        value.data = len ? (const char *)cursor_take(in, len) : "";
        value.len = len;
        return value;
}

/* Facts that mean something get their names from here. */
static const char *const names[] = { "run.id",           "run.name",         "run.outcome",
                                     "run.error",        "run.start_utc_ns", "run.end_utc_ns",
                                     "run.elapsed_ns",   "processor.name",   "backend.interval_s",
                                     "report.bytesread", "report.entries",   "report.processtime",
                                     "report.chunks" };

static void try_rows(const uint8_t *data, size_t size)
{
        struct cursor in = cursor_init(data, size);
        struct roast_run *run = NULL;

        if (roast_run_create(&run, NULL, NULL) < 0)
                return;
        while (cursor_left(&in)) {
                struct run_value values[64];
                uint8_t kind = cursor_u8(&in);
                enum run_table table = (enum run_table)(1 + kind % (RUN_N_TABLES - 1));
                size_t n = run_tables[table].n_columns;

                for (size_t i = 0; i < n; i++)
                        values[i] = take_value(&in);
                if (table == RUN_FACT && kind & 0x80) {
                        const char *name = names[(kind >> 3 & 15) % 13];

                        values[0] = run_string(name, strlen(name));
                }
                if (run_insert(run, table, values, n, NULL) < 0)
                        break;
        }
        if (roast_run_commit(run, NULL) >= 0)
                look(run);
        roast_run_free(run);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        if (size == 0)
                return 0;
        if (data[0] % 2)
                try_rows(data + 1, size - 1);
        else
                try_file(data + 1, size - 1);
        return 0;
}
