/* Scaling over several runs, as tables and as JSON */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "roast-scaling.h"
#include "roast-units.h"
#include "show/build.h"
#include "util/cleanup.h"
#include "util/json.h"
#include "util/size.h"

static const struct roast_column point_columns[] = {
        { "run", "Run", .cut = ROAST_CUT_END },
        { "workers", "Workers", true, 2 },
        { "cores", "Cores", true },
        { "events_per_s", "Throughput", true },
        { "speedup", "Speedup", true, 1 },
        { "efficiency", "Efficiency", true },
        { "left_out", "", .cut = ROAST_CUT_END },
};

static const struct roast_column fit_columns[] = {
        { "law", "Law", .cut = ROAST_CUT_END },
        { "figure", "Figure", false },
        { "value", "Value", true },
        { "interval", "95 %", true, 1 },
};

static void scaling_real_cell(struct roast_cell *cell, double value, double scale, int decimals,
                              const char *unit)
{
        char text[ROAST_UNITS_MAX];

        if (isnan(value))
                return;
        snprintf(text, sizeof(text), "%.*f%s", decimals, value * scale, unit);
        build_real(cell, value, text);
}

static void scaling_rate_cell(struct roast_cell *cell, double events_per_s)
{
        char text[ROAST_UNITS_MAX];

        if (!isnan(events_per_s))
                build_real(cell, events_per_s,
                           roast_format_unit(text, sizeof(text), ROAST_UNIT_KHZ, events_per_s / 1e3,
                                             0));
}

static int scaling_fill_points(struct roast_table *table, const struct roast_scaling *scaling)
{
        for (size_t i = 0; i < scaling->n_points; i++) {
                const struct roast_scaling_point *point = &scaling->points[i];
                struct roast_cell *cells = build_row(table);

                if (!cells)
                        return ROAST_E_NOMEM;
                build_text(&cells[0], "%s", point->name);
                scaling_real_cell(&cells[1], point->workers, 1, 1, "");
                scaling_real_cell(&cells[2], point->cores, 1, 1, "");
                scaling_rate_cell(&cells[3], point->events_per_s);
                scaling_real_cell(&cells[4], point->speedup, 1, 2, "x");
                scaling_real_cell(&cells[5], point->efficiency, 100, 1, " %");
                if (point->left_out)
                        build_text(&cells[6], "left out: %s", point->left_out);
        }
        return 0;
}

enum style { RATE, SHARE, COST, CORES };

static void scaling_format_figure(char *text, size_t size, double value, enum style style)
{
        if (isinf(value))
                snprintf(text, size, "never");
        else if (style == RATE)
                snprintf(text, size, "%.3g kHz", value / 1e3);
        else if (style == SHARE)
                snprintf(text, size, "%.2f %%", 100 * value);
        else if (style == COST)
                snprintf(text, size, "%.2g", value);
        else
                snprintf(text, size, value < 99.5 ? "%.1f" : "%.0f", value);
}

static int scaling_fit_row(struct roast_table *table, const struct roast_scaling_fit *fit,
                           const char *title, const struct roast_scaling_figure *figure,
                           enum style style)
{
        struct roast_cell *cells = build_row(table);
        char text[ROAST_UNITS_MAX], high[ROAST_UNITS_MAX];

        if (!cells)
                return ROAST_E_NOMEM;
        build_text(&cells[0], "%s", fit->title);
        build_text(&cells[1], "%s", title);
        scaling_format_figure(text, sizeof(text), figure->value, style);
        build_real(&cells[2], figure->value, text);
        if (isnan(figure->low))
                return 0;
        scaling_format_figure(text, sizeof(text), figure->low, style);
        scaling_format_figure(high, sizeof(high), figure->high, style);
        build_text(&cells[3], "%s .. %s", text, high);
        return 0;
}

static int scaling_fill_fits(struct roast_table *table, const struct roast_scaling *scaling)
{
        int r = 0;

        for (size_t i = 0; i < ROAST_SCALING_N_FITS && r >= 0; i++) {
                const struct roast_scaling_fit *fit = &scaling->fits[i];
                struct roast_cell *cells;

                if (*fit->why) {
                        cells = build_row(table);
                        if (!cells)
                                return ROAST_E_NOMEM;
                        build_text(&cells[0], "%s", fit->title);
                        build_text(&cells[1], "no fit: %s", fit->why);
                        continue;
                }
                r = scaling_fit_row(table, fit, "One core does", &fit->lambda, RATE);
                if (r >= 0)
                        r = scaling_fit_row(table, fit, "Serial part (sigma)", &fit->sigma, SHARE);
                if (r >= 0 && i == 1)
                        r = scaling_fit_row(table, fit, "Cost of each pair (kappa)", &fit->kappa,
                                            COST);
                if (r >= 0)
                        r = scaling_fit_row(table, fit, "Cores at half efficiency", &fit->half,
                                            CORES);
                if (r >= 0 && i == 1)
                        r = scaling_fit_row(table, fit, "Knee: slower beyond", &fit->knee, CORES);
                if (r >= 0)
                        r = scaling_fit_row(table, fit, "Deviation of the runs",
                                            &(struct roast_scaling_figure){
                                                    fit->deviation, (double)NAN, (double)NAN },
                                            SHARE);
        }
        return r;
}

int roast_scaling_tables(struct roast_tables *tables, const struct roast_scaling *scaling,
                         struct roast_error *error)
{
        *tables = (struct roast_tables){ .tables = calloc(2, sizeof(*tables->tables)) };
        if (!tables->tables)
                return roast_fail_nomem(error);
        tables->n = 2;
        tables->tables[0] = (struct roast_table){ .name = "points",
                                                  .title = "Throughput by Cores",
                                                  .columns = point_columns,
                                                  .n_columns = ROAST_ARRAY_SIZE(point_columns) };
        tables->tables[1] = (struct roast_table){ .name = "fits",
                                                  .title = "Scaling Laws",
                                                  .columns = fit_columns,
                                                  .n_columns = ROAST_ARRAY_SIZE(fit_columns) };
        if (scaling_fill_points(&tables->tables[0], scaling) < 0 ||
            scaling_fill_fits(&tables->tables[1], scaling) < 0 ||
            build_result(&tables->tables[0]) < 0 || build_result(&tables->tables[1]) < 0) {
                roast_tables_deinit(tables);
                return roast_fail_nomem(error);
        }
        return 0;
}

/* An infinite number has no JSON form: null stands for "never". */
static void scaling_put_figure(struct json *json, const char *key,
                               const struct roast_scaling_figure *figure)
{
        json_key(json, key);
        json_object(json);
        json_pair_double(json, "value", figure->value);
        json_pair_double(json, "low", figure->low);
        json_pair_double(json, "high", figure->high);
        json_end(json);
}

static void scaling_put_point(struct json *json, const struct roast_scaling_point *point)
{
        json_object(json);
        json_pair(json, "path", point->path);
        json_pair(json, "name", point->name);
        json_pair_double(json, "workers", point->workers);
        json_pair_double(json, "cores", point->cores);
        json_pair_double(json, "events_per_s", point->events_per_s);
        json_pair_double(json, "speedup", point->speedup);
        json_pair_double(json, "efficiency", point->efficiency);
        if (point->left_out)
                json_pair(json, "left_out", point->left_out);
        json_end(json);
}

#define CURVE_POINTS 100
#define CURVE_BEYOND 1.3 /* of the largest run */

/* The law as a line to draw: [[cores, events per second], ...] */
static void scaling_put_curve(struct json *json, const struct roast_scaling_fit *fit, double most)
{
        json_key(json, "curve");
        json_array(json);
        for (int i = 1; i <= CURVE_POINTS; i++) {
                double cores = CURVE_BEYOND * most * i / CURVE_POINTS;

                json_array(json);
                json_double(json, cores);
                json_double(json, roast_scaling_at(fit, cores));
                json_end(json);
        }
        json_end(json);
}

static void scaling_put_fit(struct json *json, const struct roast_scaling_fit *fit, double most)
{
        json_object(json);
        json_pair(json, "law", fit->law);
        json_pair(json, "title", fit->title);
        json_pair(json, "why", fit->why);
        if (!*fit->why) {
                scaling_put_figure(json, "lambda", &fit->lambda);
                scaling_put_figure(json, "sigma", &fit->sigma);
                scaling_put_figure(json, "kappa", &fit->kappa);
                scaling_put_figure(json, "half", &fit->half);
                scaling_put_figure(json, "knee", &fit->knee);
                json_pair_double(json, "deviation", fit->deviation);
                scaling_put_curve(json, fit, most);
        }
        json_end(json);
}

int roast_scaling_to_json(char **ret, const struct roast_scaling *scaling,
                          struct roast_error *error)
{
        ROAST_CLEANUP(buf_deinit) struct buf out = BUF_INIT;
        struct json json = { .out = &out };
        double most = 0;

        json_object(&json);
        json_key(&json, "points");
        json_array(&json);
        for (size_t i = 0; i < scaling->n_points; i++) {
                scaling_put_point(&json, &scaling->points[i]);
                most = fmax(most, scaling->points[i].cores); /* NaN: not known, and left out */
        }
        json_end(&json);
        json_key(&json, "fits");
        json_array(&json);
        for (size_t i = 0; i < ROAST_SCALING_N_FITS; i++)
                scaling_put_fit(&json, &scaling->fits[i], most);
        json_end(&json);
        json_end(&json);
        if (json.error >= 0)
                json.error = buf_puts(&out, "\n");
        *ret = json.error < 0 ? NULL : buf_release_string(&out);
        return *ret ? 0 : roast_fail_nomem(error);
}
