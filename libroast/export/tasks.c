/* Attempts at tasks of any kind, as rows */

#include "export/export.h"
#include "run/series.h"
#include "util/cleanup.h"
#include "util/size.h"

static const struct column {
        enum { STRING, TEXT, INT, SECONDS, INSTANT, OUTCOME } kind;
        enum task_column column;
} columns[] = {
        { STRING, TASK_KEY },
        { TEXT, TASK_PREFIX },
        { TEXT, TASK_WORKER },
        { INT, TASK_ATTEMPT },
        { OUTCOME, TASK_OUTCOME },
        { INSTANT, TASK_START_UTC_NS },
        { INSTANT, TASK_STOP_UTC_NS },
        { INSTANT, TASK_COMPUTE_START_UTC_NS },
        { SECONDS, TASK_COMPUTE_NS },
        { SECONDS, TASK_TRANSFER_NS },
        { SECONDS, TASK_DESERIALIZE_NS },
        { SECONDS, TASK_DISK_NS },
        { INT, TASK_RESULT_BYTES },
        { INT, TASK_TRANSFER_BYTES },
        { TEXT, TASK_ERROR_TYPE },
        { TEXT, TASK_ERROR_MESSAGE },
        { TEXT, TASK_DATASET },
        { TEXT, TASK_FILE },
        { TEXT, TASK_TREE },
        { TEXT, TASK_UUID },
        { INT, TASK_ENTRY_START },
        { INT, TASK_ENTRY_STOP },
        { SECONDS, TASK_CPU_NS },
        { INT, TASK_PEAK_MEMORY_BYTES },
};

static const struct rows_column task_columns[] = {
        { "key", false },           { "prefix", false },         { "worker", false },
        { "attempt", false },       { "outcome", false },        { "start", false },
        { "stop", false },          { "compute_start", false },  { "compute_s", false },
        { "transfer_s", false },    { "deserialize_s", false },  { "disk_s", false },
        { "result_bytes", false },  { "transfer_bytes", false }, { "error_type", false },
        { "error_message", false }, { "dataset", false },        { "file", false },
        { "tree", false },          { "uuid", false },           { "entry_start", false },
        { "entry_stop", false },    { "cpu_s", false },          { "peak_memory_bytes", false },
};

_Static_assert(ROAST_ARRAY_SIZE(columns) == ROAST_ARRAY_SIZE(task_columns), "a name for each");

static void tasks_put_text(struct rows *rows, const struct intern *texts,
                           const struct run_value *value)
{
        size_t len = 0;
        const char *text = NULL;

        if (value->type == RUN_INT && value->integer > 0 && (uint64_t)value->integer <= texts->n)
                text = intern_get(texts, (size_t)value->integer - 1, &len);
        rows_text(rows, text, len);
}

static void tasks_put_integer(struct rows *rows, int kind, int64_t value)
{
        if (kind == SECONDS || kind == INSTANT)
                rows_real(rows, (double)value / 1e9);
        else if (kind == OUTCOME)
                rows_string(rows, value >= 0 && value < CHUNK_N_OUTCOMES ? chunk_outcomes[value]
                                                                         : "unknown");
        else
                rows_int(rows, value);
}

static void tasks_put(struct rows *rows, const struct intern *texts, const struct run_value *values)
{
        rows_row(rows);
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(columns); i++) {
                const struct run_value *value = &values[columns[i].column];

                if (columns[i].kind == TEXT)
                        tasks_put_text(rows, texts, value);
                else if (columns[i].kind == STRING)
                        rows_text(rows, value->type == RUN_STRING ? value->data : NULL, value->len);
                else if (value->type == RUN_INT)
                        tasks_put_integer(rows, columns[i].kind, value->integer);
                else
                        rows_absent(rows);
        }
        rows_row_end(rows);
}

int export_tasks(struct roast_run *run, const struct roast_export_options *options, struct out *out,
                 struct roast_error *error)
{
        ROAST_CLEANUP(intern_deinit) struct intern texts = { 0 };
        struct run_scan scan;
        struct rows rows;
        int r;

        r = run_view_begin(run, error);
        if (r < 0)
                return r;
        rows_begin(&rows, out, options->format, task_columns, ROAST_ARRAY_SIZE(task_columns));
        r = run_read_texts(run, &texts, error);
        if (r >= 0) {
                r = run_scan_begin(&scan, run, RUN_TASK, error);
                while (r >= 0 && (r = run_scan_next(&scan, error)) > 0) {
                        tasks_put(&rows, &texts, scan.values);
                        r = out_step(out, error);
                }
                run_scan_end(&scan);
        }
        run_view_end(run);
        rows_end(&rows);
        return r;
}
