/* Predictions as JSON, and as a table */

#include <stdlib.h>

#include "roast-predict.h"
#include "roast-units.h"
#include "show/build.h"
#include "util/buf.h"
#include "util/cleanup.h"
#include "util/json.h"
#include "util/size.h"

static void forecast_put_prediction(struct json *json, const struct roast_prediction *prediction)
{
        json_object(json);
        json_pair_int(json, "workers", prediction->workers);
        json_pair_int(json, "threads", prediction->threads);
        json_key(json, "chunksize");
        if (prediction->chunksize)
                json_int(json, prediction->chunksize);
        else
                json_null(json);
        json_pair_int(json, "chunks", prediction->chunks);
        json_pair_double(json, "makespan_s", prediction->makespan_s);
        json_pair_double(json, "low_s", prediction->low_s);
        json_pair_double(json, "high_s", prediction->high_s);
        json_pair_double(json, "idle_share", prediction->idle_share);
        json_pair_double(json, "tail_s", prediction->tail_s);
        json_pair_double(json, "cost_s", prediction->cost_s);
        json_pair_double(json, "memory_bytes", prediction->memory_bytes);
        json_pair_double(json, "fails", prediction->fails);
        json_end(json);
}

int roast_forecast_to_json(char **ret, const struct roast_forecast *forecast,
                           struct roast_error *error)
{
        ROAST_CLEANUP(buf_deinit) struct buf out = BUF_INIT;
        struct json json = { .out = &out };

        json_object(&json);
        json_key(&json, "measured");
        json_object(&json);
        json_pair_int(&json, "workers", forecast->workers);
        json_pair_int(&json, "chunks", forecast->chunks);
        json_pair_double(&json, "elapsed_s", forecast->elapsed_s);
        json_pair_double(&json, "simulated_s", forecast->again_s);
        json_end(&json);
        json_pair_int(&json, "simulations", forecast->simulations);
        json_key(&json, "predictions");
        json_array(&json);
        for (size_t i = 0; i < forecast->n_predictions; i++)
                forecast_put_prediction(&json, &forecast->predictions[i]);
        json_end(&json);
        json_key(&json, "recommended");
        if (forecast->has_best)
                forecast_put_prediction(&json, &forecast->best);
        else
                json_null(&json);
        json_key(&json, "advice");
        if (forecast->advice)
                json_string(&json, forecast->advice);
        else
                json_null(&json);
        json_key(&json, "assumptions");
        json_array(&json);
        for (size_t i = 0; i < forecast->n_assumptions; i++)
                json_string(&json, forecast->assumptions[i]);
        json_end(&json);
        json_end(&json);
        if (json.error >= 0)
                json.error = buf_puts(&out, "\n");
        *ret = json.error < 0 ? NULL : buf_release_string(&out);
        return *ret ? 0 : roast_fail_nomem(error);
}

static const struct roast_column columns[] = {
        { "workers", "Workers", true },      { "chunksize", "Chunk Size", true, 6 },
        { "chunks", "Chunks", true, 4 },     { "makespan_s", "Time", true },
        { "low_s", "5 %", true, 1 },         { "high_s", "95 %", true, 1 },
        { "idle_share", "Idle", true, 2 },   { "tail_s", "Tail", true, 5 },
        { "cost_s", "Workers' Time", true }, { "memory_bytes", "Memory", true, 3 },
        { "fails", "Fails", true, 7 },
};

static int forecast_add_row(struct roast_table *table, const struct roast_prediction *prediction)
{
        struct roast_cell *cells = build_row(table);
        char percent[ROAST_UNITS_MAX];

        if (!cells)
                return ROAST_E_NOMEM;
        build_count(&cells[0], prediction->workers);
        if (prediction->chunksize)
                build_count(&cells[1], prediction->chunksize);
        else
                build_text(&cells[1], "as it was");
        build_count(&cells[2], prediction->chunks);
        build_seconds(&cells[3], prediction->makespan_s);
        cells[3].emphasis = ROAST_STRONG;
        build_seconds(&cells[4], prediction->low_s);
        build_seconds(&cells[5], prediction->high_s);
        snprintf(percent, sizeof(percent), "%.0f %%", 100 * prediction->idle_share);
        build_real(&cells[6], prediction->idle_share, percent);
        build_seconds(&cells[7], prediction->tail_s);
        build_seconds(&cells[8], prediction->cost_s);
        if (prediction->memory_bytes > 0)
                build_bytes(&cells[9], prediction->memory_bytes);
        else
                build_absent(&cells[9], "not sampled");
        snprintf(percent, sizeof(percent), "%.0f %%", 100 * prediction->fails);
        build_real(&cells[10], prediction->fails, percent);
        return 0;
}

int roast_forecast_table(struct roast_table *table, const struct roast_forecast *forecast,
                         struct roast_error *error)
{
        int r = 0;

        *table = (struct roast_table){ .name = "predictions",
                                       .title = "Predictions",
                                       .columns = columns,
                                       .n_columns = ROAST_ARRAY_SIZE(columns) };
        for (size_t i = 0; i < forecast->n_predictions && r >= 0; i++)
                r = forecast_add_row(table, &forecast->predictions[i]);
        if (r >= 0)
                r = build_result(table);
        if (r < 0) {
                roast_table_deinit(table);
                return roast_fail_nomem(error);
        }
        return 0;
}
