/* A run as JSON: itself, its metrics, what is absent and why, its tables */

#include <string.h>

#include "roast-show.h"
#include "show/json.h"
#include "util/cleanup.h"

static void json_put_metric(struct json *json, enum roast_metric metric,
                            const struct roast_value *value)
{
        if (roast_metrics[metric].type == ROAST_TYPE_COUNT)
                json_int(json, value->count);
        else
                json_double(json, value->real);
}

static void json_put_metrics(struct json *json, const struct roast_summary *summary)
{
        const struct roast_metric_set *set = &summary->metrics;

        json_key(json, "metrics");
        json_object(json);
        for (unsigned int i = 0; i < ROAST_N_METRICS; i++)
                if (set->values[i].state != ROAST_ABSENT) {
                        json_key(json, roast_metrics[i].key);
                        json_put_metric(json, i, &set->values[i]);
                }
        for (size_t i = 0; i < summary->n_customs; i++)
                if (summary->customs[i].value.state != ROAST_ABSENT)
                        json_pair_double(json, summary->customs[i].key,
                                         summary->customs[i].value.real);
        json_end(json);
}

static void json_put_reasons(struct json *json, const struct roast_summary *summary,
                             const char *key, enum roast_state state)
{
        const struct roast_metric_set *set = &summary->metrics;

        json_key(json, key);
        json_object(json);
        for (unsigned int i = 0; i < ROAST_N_METRICS; i++)
                if (set->values[i].state == state)
                        json_pair(json, roast_metrics[i].key, roast_metric_reason(set, i));
        for (size_t i = 0; i < summary->n_customs; i++)
                if (summary->customs[i].value.state == state && state != ROAST_KNOWN)
                        json_pair(json, summary->customs[i].key, summary->customs[i].value.reason);
        json_end(json);
}

/* What the user's own metrics are: the registry tells that of the others. */
static void json_put_customs(struct json *json, const struct roast_summary *summary)
{
        static const char *const betters[] = { [ROAST_BETTER_NEUTRAL] = "neutral",
                                               [ROAST_BETTER_MORE] = "more",
                                               [ROAST_BETTER_LESS] = "less" };

        json_key(json, "custom");
        json_object(json);
        for (size_t i = 0; i < summary->n_customs; i++) {
                const struct roast_custom *custom = &summary->customs[i];

                json_key(json, custom->key);
                json_object(json);
                json_pair(json, "title", custom->title ? custom->title : custom->key);
                json_pair(json, "unit", custom->unit ? custom->unit : "");
                json_pair(json, "better", betters[custom->better]);
                json_end(json);
        }
        json_end(json);
}

static void json_put_cell(struct json *json, const struct roast_cell *cell)
{
        switch (cell->type) {
        case ROAST_CELL_COUNT:
                json_int(json, cell->count);
                return;
        case ROAST_CELL_REAL:
                json_double(json, cell->real);
                return;
        case ROAST_CELL_TEXT:
                json_string(json, cell->text);
                return;
        case ROAST_CELL_EMPTY:
        case ROAST_CELL_ABSENT:
                break;
        }
        json_null(json);
}

static void json_put_table(struct json *json, const struct roast_table *table)
{
        json_object(json);
        json_pair(json, "name", table->name);
        json_pair(json, "title", table->title);
        json_key(json, "rows");
        json_array(json);
        for (size_t row = 0; row < table->n_rows; row++) {
                const struct roast_cell *cells = &table->cells[row * table->n_columns];

                json_object(json);
                for (size_t i = 0; i < table->n_columns; i++) {
                        json_key(json, table->columns[i].key);
                        json_put_cell(json, &cells[i]);
                        /* the text for people, where it says more than the number */
                        if (cells[i].type != ROAST_CELL_TEXT && cells[i].text &&
                            table->n_columns == 2)
                                json_pair(json, "text", cells[i].text);
                }
                json_end(json);
        }
        json_end(json);
        json_end(json);
}

static int json_finish(char **ret, struct json *json, struct roast_error *error)
{
        if (json->error >= 0)
                json->error = buf_puts(json->out, "\n");
        *ret = json->error < 0 ? NULL : buf_release_string(json->out);
        return *ret ? 0 : roast_fail_nomem(error);
}

void show_fact(struct json *json, const struct roast_fact *fact)
{
        switch (fact->type) {
        case ROAST_FACT_INT:
                json_int(json, fact->integer);
                break;
        case ROAST_FACT_REAL:
                json_double(json, fact->real);
                break;
        case ROAST_FACT_TEXT:
                json_string(json, fact->text ? fact->text : "");
                break;
        case ROAST_FACT_ABSENT:
                json_null(json);
                break;
        }
}

static int json_put_fact(const struct roast_fact *fact, void *context)
{
        struct json *json = context;

        json_key(json, fact->name);
        show_fact(json, fact);
        return 0;
}

static int json_put_run(struct json *json, struct roast_run *run, struct roast_error *error)
{
        struct roast_run_about about;
        int r;

        r = roast_run_about(run, &about, error);
        if (r < 0)
                return r;
        json_key(json, "run");
        json_object(json);
        json_pair(json, "path", roast_run_path(run) ? roast_run_path(run) : "");
        json_pair_bool(json, "finished", about.outcome && !strcmp(about.outcome, "finished"));
        json_key(json, "facts");
        json_object(json);
        r = roast_run_facts(run, json_put_fact, json, error);
        json_end(json);
        json_end(json);
        return r;
}

/*
 * Of each worker, seconds by those parts that are known; where tasks were not followed there is no
 * worker in it.
 */
static void json_put_ledger(struct json *json, const struct roast_summary *summary)
{
        json_key(json, "time_ledger");
        json_object(json);
        for (size_t i = 0; i < summary->n_ledger; i++) {
                json_key(json, summary->ledger[i].worker);
                json_object(json);
                for (size_t j = 0; j < ROAST_LEDGER_N_PARTS; j++) {
                        if (!(summary->ledger[i].known >> j & 1))
                                continue;
                        json_pair_double(json, roast_ledger_parts[j].key,
                                         summary->ledger[i].seconds[j]);
                }
                json_end(json);
        }
        json_end(json);
}

int roast_show_to_json(char **ret, struct roast_run *run, const struct roast_summary *summary,
                       const struct roast_tables *tables, struct roast_error *error)
{
        ROAST_CLEANUP(buf_deinit) struct buf out = BUF_INIT;
        struct json json = { .out = &out };
        int r;

        json_object(&json);
        r = json_put_run(&json, run, error);
        if (r < 0)
                return r;
        json_put_metrics(&json, summary);
        json_put_reasons(&json, summary, "absent", ROAST_ABSENT);
        json_put_reasons(&json, summary, "estimated", ROAST_ESTIMATED);
        json_put_customs(&json, summary);
        json_put_ledger(&json, summary);
        if (tables) {
                json_key(&json, "tables");
                json_array(&json);
                for (size_t i = 0; i < tables->n; i++)
                        json_put_table(&json, &tables->tables[i]);
                json_end(&json);
        }
        json_end(&json);
        return json_finish(ret, &json, error);
}

int roast_table_to_json(char **ret, const struct roast_table *table, struct roast_error *error)
{
        ROAST_CLEANUP(buf_deinit) struct buf out = BUF_INIT;
        struct json json = { .out = &out };

        json_put_table(&json, table);
        return json_finish(ret, &json, error);
}
