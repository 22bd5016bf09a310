/*
 * The words of the page: the run itself, its key figures, its facts, its tables
 *
 * Figures and tables are those of the registry and of show/: nothing is
 * computed here.
 */

#include <string.h>

#include "report/report.h"
#include "roast-explain.h"
#include "roast-show.h"
#include "roast-units.h"
#include "show/json.h"
#include "util/cleanup.h"
#include "util/size.h"

#define FILES_MAX 2000

/* What stands large on the first page; an absent one shows its reason. */
static const struct figure {
        enum roast_metric metric;
        const char *title;
} figures[] = {
        { ROAST_ELAPSED_TIME_SECONDS, "Elapsed time" },
        { ROAST_TOTAL_EVENTS, "Events" },
        { ROAST_EVENT_RATE_ELAPSED_KHZ, "Event rate" },
        { ROAST_DATA_RATE_MB_PER_S, "Data rate" },
        { ROAST_NUM_CHUNKS, "Chunks" },
        { ROAST_NUM_FAILED_CHUNKS, "Failed chunks" },
        { ROAST_AVG_WORKERS, "Workers, on average" },
        { ROAST_CORE_EFFICIENCY, "Core efficiency" },
        { ROAST_PEAK_MEMORY_BYTES, "Peak memory of a worker" },
};

/* Milliseconds since 1970, which JavaScript counts exactly */
static void words_put_ms(struct json *json, const char *key, int64_t utc_ns)
{
        json_key(json, key);
        if (utc_ns == INT64_MIN)
                json_null(json);
        else
                json_int(json, utc_ns / 1000000);
}

static int words_put_run(struct report *report, struct roast_error *error)
{
        struct json *json = &report->pack->json;
        struct roast_run_about about;
        int r;

        r = roast_run_about(report->run, &about, error);
        if (r < 0)
                return r;
        json_key(json, "run");
        json_object(json);
        json_pair(json, "id", about.id);
        json_pair(json, "name", about.name);
        json_pair(json, "outcome", about.outcome);
        json_pair(json, "error", about.error);
        words_put_ms(json, "start_utc_ms", about.start_utc_ns);
        words_put_ms(json, "end_utc_ms", about.end_utc_ns);
        words_put_ms(json, "zero_utc_ms", report->zero_utc_ns);
        json_pair_double(json, "duration_s",
                         ((double)report->end_utc_ns - (double)report->zero_utc_ns) / 1e9);
        json_end(json);
        return 0;
}

void report_put_figures(struct json *json, const struct roast_metric_set *set)
{
        json_array(json);
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(figures); i++) {
                enum roast_metric metric = figures[i].metric;
                const struct roast_value *value = &set->values[metric];
                char text[ROAST_UNITS_MAX];

                json_object(json);
                json_pair(json, "key", roast_metrics[metric].key);
                json_pair(json, "title", figures[i].title);
                json_pair(json, "formula", roast_metrics[metric].formula);
                if (value->state != ROAST_ABSENT)
                        json_pair(json, "text",
                                  roast_format_value(text, sizeof(text), metric, value));
                if (value->state != ROAST_KNOWN)
                        json_pair(json, value->state == ROAST_ABSENT ? "absent" : "estimated",
                                  roast_metric_reason(set, metric));
                json_end(json);
        }
        json_end(json);
}

static int words_put_fact(const struct roast_fact *fact, void *context)
{
        struct json *json = context;

        json_array(json);
        json_string(json, fact->name);
        show_fact(json, fact);
        if (fact->type == ROAST_FACT_ABSENT)
                json_string(json, fact->text ? fact->text : "");
        json_end(json);
        return 0;
}

/* A text as it is, nothing as null, others as [number or null, text, emphasis] */
static void words_put_cell(struct json *json, const struct roast_cell *cell)
{
        if (cell->type == ROAST_CELL_EMPTY) {
                json_null(json);
                return;
        }
        if (cell->type == ROAST_CELL_TEXT && cell->emphasis == ROAST_PLAIN) {
                json_string(json, cell->text);
                return;
        }
        json_array(json);
        if (cell->type == ROAST_CELL_COUNT)
                json_int(json, cell->count);
        else if (cell->type == ROAST_CELL_REAL)
                json_double(json, cell->real);
        else
                json_null(json);
        json_string(json, cell->text);
        if (cell->emphasis != ROAST_PLAIN)
                json_int(json, (int64_t)cell->emphasis);
        json_end(json);
}

void report_put_table(struct json *json, const struct roast_table *table)
{
        json_object(json);
        json_pair(json, "name", table->name);
        json_pair(json, "title", table->title);
        json_key(json, "columns");
        json_array(json);
        for (size_t i = 0; i < table->n_columns; i++) {
                json_object(json);
                json_pair(json, "key", table->columns[i].key);
                json_pair(json, "title", table->columns[i].title);
                json_pair_bool(json, "right", table->columns[i].right);
                json_end(json);
        }
        json_end(json);
        json_key(json, "rows");
        json_array(json);
        for (size_t row = 0; row < table->n_rows; row++) {
                json_array(json);
                for (size_t i = 0; i < table->n_columns; i++)
                        words_put_cell(json, &table->cells[row * table->n_columns + i]);
                json_end(json);
        }
        json_end(json);
        json_key(json, "levels");
        json_array(json);
        for (size_t row = 0; row < table->n_rows; row++)
                json_int(json, table->cells[row * table->n_columns].level);
        json_end(json);
        json_end(json);
}

/* As a table without a limit to its width shows it */
static int words_put_shown(struct json *json, const struct roast_table *table,
                           struct roast_error *error)
{
        ROAST_CLEANUP(roast_table_deinit) struct roast_table shown = { 0 };
        int r = roast_table_fit(&shown, table, &(struct roast_room){ 0 }, error);

        if (r >= 0)
                report_put_table(json, &shown);
        return r;
}

/* Very many files would make the page large: it then sums up the chunks of each itself. */
static int words_put_tables(struct report *report, struct roast_error *error)
{
        ROAST_CLEANUP(roast_tables_deinit) struct roast_tables tables = { 0 };
        ROAST_CLEANUP(roast_table_deinit) struct roast_table files = { 0 };
        struct json *json = &report->pack->json;
        int r = roast_tables_make(&tables, report->summary, error);

        if (r >= 0 && report->summary->n_files <= FILES_MAX)
                r = roast_table_make(&files, "files", report->summary, error);
        json_key(json, "tables");
        json_array(json);
        for (size_t i = 0; i < tables.n && r >= 0; i++)
                r = words_put_shown(json, &tables.tables[i], error);
        if (r >= 0 && files.n_rows)
                r = words_put_shown(json, &files, error);
        json_end(json);
        return r;
}

void report_put_json(struct json *json, const char *key, const char *text)
{
        json_key(json, key);
        json->after_key = false; /* its value is there already */
        if (json->error >= 0)
                json->error = buf_puts(json->out, text);
}

/* What the rules found, as the explanation writes it itself */
static int words_put_explanation(struct report *report, struct roast_error *error)
{
        ROAST_CLEANUP(roast_explanation_deinit) struct roast_explanation explanation = { 0 };
        ROAST_CLEANUP(cleanup_free) char *text = NULL;
        int r;

        r = roast_explain(&explanation, report->run, error);
        if (r >= 0)
                r = roast_explanation_to_json(&text, &explanation, error);
        if (r < 0)
                return r;
        report_put_json(&report->pack->json, "explanation", text);
        return 0;
}

int report_words_put(struct report *report, struct roast_error *error)
{
        struct json *json = &report->pack->json;
        int r;

        json_pair(json, "version", ROAST_VERSION);
        r = words_put_run(report, error);
        if (r < 0)
                return r;
        json_key(json, "figures");
        report_put_figures(json, &report->summary->metrics);
        r = words_put_explanation(report, error);
        if (r < 0)
                return r;
        r = words_put_tables(report, error);
        if (r < 0)
                return r;
        json_key(json, "facts");
        json_array(json);
        r = roast_run_facts(report->run, words_put_fact, json, error);
        json_end(json);
        return r;
}
