/* A comparison as tables and as JSON */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "metrics/stat.h"
#include "roast-compare.h"
#include "roast-units.h"
#include "show/build.h"
#include "util/cleanup.h"
#include "util/json.h"
#include "util/size.h"

const char *const roast_group_letters[ROAST_COMPARE_GROUPS_MAX] = {
        "A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K", "L", "M",
        "N", "O", "P", "Q", "R", "S", "T", "U", "V", "W", "X", "Y", "Z",
};

static const struct roast_column run_columns[] = {
        { "group", "", false },
        { "name", "Run", .cut = ROAST_CUT_END },
        { "chunks", "Chunks", true, 2 },
        { "waiting", "Waiting for a core", true, 1 },
};

#define LETTER(l)                                                                                  \
        {                                                                                          \
                l, l, .cut = ROAST_CUT_END                                                         \
        }

static const struct roast_column condition_columns[] = {
        { "condition", "Condition", .cut = ROAST_CUT_END },
        LETTER("A"),
        LETTER("B"),
        LETTER("C"),
        LETTER("D"),
        LETTER("E"),
        LETTER("F"),
        LETTER("G"),
        LETTER("H"),
        LETTER("I"),
        LETTER("J"),
        LETTER("K"),
        LETTER("L"),
        LETTER("M"),
        LETTER("N"),
        LETTER("O"),
        LETTER("P"),
        LETTER("Q"),
        LETTER("R"),
        LETTER("S"),
        LETTER("T"),
        LETTER("U"),
        LETTER("V"),
        LETTER("W"),
        LETTER("X"),
        LETTER("Y"),
        LETTER("Z"),
};

static const struct roast_column figure_columns[] = {
        { "figure", "Figure", .cut = ROAST_CUT_END },
        { "a", "From", true, 1 },
        { "b", "To", true },
        { "change", "Change", true },
        { "interval", "95 %", true, 2 },
        { "p_adjusted", "p", true, 3 },
        { "verdict", "", false },
};

#define FROM_A_TO(l)                                                                               \
        {                                                                                          \
                "figures-A-" l, "From A to " l                                                     \
        }

static const struct {
        const char *name;
        const char *title;
} pairs[ROAST_COMPARE_GROUPS_MAX] = {
        { 0 },          FROM_A_TO("B"), FROM_A_TO("C"), FROM_A_TO("D"), FROM_A_TO("E"),
        FROM_A_TO("F"), FROM_A_TO("G"), FROM_A_TO("H"), FROM_A_TO("I"), FROM_A_TO("J"),
        FROM_A_TO("K"), FROM_A_TO("L"), FROM_A_TO("M"), FROM_A_TO("N"), FROM_A_TO("O"),
        FROM_A_TO("P"), FROM_A_TO("Q"), FROM_A_TO("R"), FROM_A_TO("S"), FROM_A_TO("T"),
        FROM_A_TO("U"), FROM_A_TO("V"), FROM_A_TO("W"), FROM_A_TO("X"), FROM_A_TO("Y"),
        FROM_A_TO("Z"),
};

static const struct {
        const char *group;
        const char *title;
} headings[] = {
        { "run", "Whole runs" },
        { "chunk", "Chunks" },
        { "part", "Waits per event, of wall time" },
        { "dataset", "Datasets: wall time per event" },
        { "section", "Sections: time per event" },
};

static int compare_fill_runs(struct roast_table *table, const struct roast_comparison *comparison)
{
        for (size_t i = 0; i < comparison->n_runs; i++) {
                const struct roast_compare_run *run = &comparison->runs[i];
                struct roast_cell *cells = build_row(table);
                char text[ROAST_UNITS_MAX];

                if (!cells)
                        return ROAST_E_NOMEM;
                build_text(&cells[0], "%s", roast_group_letters[run->group]);
                build_text(&cells[1], "%s", run->name);
                build_count(&cells[2], (int64_t)run->chunks);
                if (isnan(run->waiting))
                        continue;
                snprintf(text, sizeof(text), "%.1f %%", 100 * run->waiting);
                build_real(&cells[3], run->waiting, text);
        }
        return 0;
}

static int compare_fill_conditions(struct roast_table *table,
                                   const struct roast_comparison *comparison)
{
        for (size_t i = 0; i < comparison->n_differences; i++) {
                const struct roast_compare_difference *difference = &comparison->differences[i];
                struct roast_cell *cells = build_row(table);

                if (!cells)
                        return ROAST_E_NOMEM;
                build_text(&cells[0], "%s", difference->name);
                for (size_t j = 0; j < comparison->n_groups; j++)
                        build_text(&cells[j + 1], "%s", difference->values[j]);
        }
        return 0;
}

/* Three digits, so that a difference of a percent shows */
static void compare_format_small(char *text, size_t size, double value, const char *unit)
{
        static const struct {
                double scale;
                const char *prefix;
        } scales[] = { { 1e9, "G" },  { 1e6, "M" },  { 1e3, "k" }, { 1, "" },
                       { 1e-3, "m" }, { 1e-6, "u" }, { 1e-9, "n" } };
        size_t i = 0;
        double shown;

        while (i + 1 < ROAST_ARRAY_SIZE(scales) && fabs(value) < 0.9995 * scales[i].scale)
                i++;
        if (value == 0 || !strcmp(unit, "B"))
                i = value == 0 || i > 3 ? 3 : i;
        shown = value / scales[i].scale;
        snprintf(text, size, "%.*f%s%s%s",
                 value == 0            ? 0
                 : fabs(shown) < 9.995 ? 2
                 : fabs(shown) < 99.95 ? 1
                                       : 0,
                 shown, *unit == 'B' ? " " : "", scales[i].prefix, unit);
}

/* The figure, and how far its interval goes: "8.60us ±3%" */
static void compare_figure_cell(struct roast_cell *cell, const struct roast_compare_row *row,
                                double value, double low, double high)
{
        char text[ROAST_UNITS_MAX], margin[ROAST_UNITS_MAX] = "";
        double half = fmax(high - value, value - low) / fabs(value);

        if (isnan(value))
                return;
        if (row->unit == ROAST_COMPARE_METRIC) {
                const struct roast_value plain = { .real = value, .count = stat_whole(value) };

                roast_format_value(text, sizeof(text), row->metric, &plain);
        } else {
                compare_format_small(text, sizeof(text), value,
                                     row->unit == ROAST_COMPARE_BYTES ? "B" : "s");
        }
        if (isfinite(half) && half < 9.995)
                snprintf(margin, sizeof(margin), " \xc2\xb1%.0f%%", 100 * half);
        build_text(cell, "%s%s", text, margin);
        cell->type = ROAST_CELL_REAL;
        cell->real = value;
}

static void compare_format_share(char *text, size_t size, double share)
{
        if (fabs(share) >= 9.995)
                snprintf(text, size, "%+.0f%%", 100 * share);
        else
                snprintf(text, size, "%+.1f%%", 100 * share);
}

static void compare_change_cells(struct roast_cell *cells, const struct roast_compare_row *row)
{
        char text[ROAST_UNITS_MAX], low[ROAST_UNITS_MAX], high[ROAST_UNITS_MAX];

        if (isfinite(row->change)) {
                compare_format_share(text, sizeof(text), row->change);
                build_real(&cells[3], row->change, text);
        }
        if (isfinite(row->change_low) && isfinite(row->change_high)) {
                compare_format_share(low, sizeof(low), row->change_low);
                compare_format_share(high, sizeof(high), row->change_high);
                build_text(&cells[4], "%s .. %s", low, high);
        }
        if (isfinite(row->p_adjusted)) {
                snprintf(text, sizeof(text), row->p_adjusted < 0.001 ? "<0.001" : "%.3f",
                         row->p_adjusted);
                build_real(&cells[5], row->p_adjusted, text);
        }
}

static void compare_verdict_cell(struct roast_cell *cell, const struct roast_compare_row *row)
{
        /* significant, and still nothing is said: then the noise is why */
        if (row->verdict == ROAST_VERDICT_NONE && row->p_adjusted < 0.05 && row->noise > 1)
                build_text(cell, "~ noise %.1fx", 1 + row->noise);
        else if (row->verdict == ROAST_VERDICT_NONE && row->p_adjusted < 0.05)
                build_text(cell, "~ noise %.0f%%", 100 * row->noise);
        else
                build_text(cell, "%s", roast_verdict_names[row->verdict]);
        cell->emphasis = row->verdict == ROAST_VERDICT_WORSE  ? ROAST_ALERT
                         : row->verdict == ROAST_VERDICT_NONE ? ROAST_DIM
                                                              : ROAST_STRONG;
}

static int compare_heading(struct roast_table *table, const char *group)
{
        struct roast_cell *cells = build_row(table);

        if (!cells)
                return ROAST_E_NOMEM;
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(headings); i++)
                if (!strcmp(headings[i].group, group))
                        build_text(&cells[0], "%s", headings[i].title);
        cells[0].emphasis = ROAST_STRONG;
        return 0;
}

static int compare_fill_figures(struct roast_table *table,
                                const struct roast_comparison *comparison, size_t against)
{
        const char *group = "";

        for (size_t i = 0; i < comparison->n_rows; i++) {
                const struct roast_compare_row *row = &comparison->rows[i];
                struct roast_cell *cells;

                if (row->against != against)
                        continue;
                if (strcmp(row->group, group) && compare_heading(table, row->group) < 0)
                        return ROAST_E_NOMEM;
                group = row->group;
                cells = build_row(table);
                if (!cells)
                        return ROAST_E_NOMEM;
                build_name(&cells[0], BUILD_INDENT, row->title);
                compare_figure_cell(&cells[1], row, row->a, row->a_low, row->a_high);
                compare_figure_cell(&cells[2], row, row->b, row->b_low, row->b_high);
                compare_change_cells(cells, row);
                compare_verdict_cell(&cells[6], row);
        }
        return 0;
}

static int compare_fill_all(struct roast_tables *tables, const struct roast_comparison *comparison)
{
        struct roast_table *table = tables->tables;
        int r;

        tables->n = 1 + comparison->n_groups;
        table[0] = (struct roast_table){ .name = "runs",
                                         .title = "Runs",
                                         .columns = run_columns,
                                         .n_columns = ROAST_ARRAY_SIZE(run_columns) };
        table[1] = (struct roast_table){ .name = "environment",
                                         .title = "What Differs Around Them",
                                         .columns = condition_columns,
                                         .n_columns = 1 + comparison->n_groups };
        r = compare_fill_runs(&table[0], comparison);
        if (r >= 0)
                r = compare_fill_conditions(&table[1], comparison);
        for (size_t i = 1; i < comparison->n_groups && r >= 0; i++) {
                table[i + 1] =
                        (struct roast_table){ .name = pairs[i].name,
                                              .title = pairs[i].title,
                                              .columns = figure_columns,
                                              .n_columns = ROAST_ARRAY_SIZE(figure_columns) };
                r = compare_fill_figures(&table[i + 1], comparison, i);
        }
        for (size_t i = 0; i < tables->n && r >= 0; i++)
                r = build_result(&table[i]);
        return r;
}

int roast_comparison_tables(struct roast_tables *tables, const struct roast_comparison *comparison,
                            struct roast_error *error)
{
        *tables = (struct roast_tables){ 0 };
        tables->tables = calloc(1 + comparison->n_groups, sizeof(*tables->tables));
        if (!tables->tables || compare_fill_all(tables, comparison) < 0) {
                roast_tables_deinit(tables);
                return roast_fail_nomem(error);
        }
        return 0;
}

static const char *compare_unit_of(const struct roast_compare_row *row)
{
        switch (row->unit) {
        case ROAST_COMPARE_SECONDS:
                return "s/event";
        case ROAST_COMPARE_BYTES:
                return "B/event";
        case ROAST_COMPARE_METRIC:
                break;
        }
        return roast_unit_names[roast_metrics[row->metric].unit];
}

static void compare_put_row(struct json *json, const struct roast_compare_row *row)
{
        static const char *const betters[] = { "", "more", "less" };

        json_object(json);
        json_pair(json, "group", row->group);
        json_pair(json, "key", row->key);
        json_pair(json, "title", row->title);
        json_pair_int(json, "against", (int64_t)row->against);
        json_pair(json, "unit", compare_unit_of(row));
        json_pair(json, "better", betters[row->better]);
        json_pair_double(json, "a", row->a);
        json_pair_double(json, "a_low", row->a_low);
        json_pair_double(json, "a_high", row->a_high);
        json_pair_double(json, "b", row->b);
        json_pair_double(json, "low", row->b_low);
        json_pair_double(json, "high", row->b_high);
        json_pair_double(json, "change", row->change);
        json_pair_double(json, "change_low", row->change_low);
        json_pair_double(json, "change_high", row->change_high);
        json_pair_double(json, "noise", row->noise);
        json_pair_double(json, "p", row->p);
        json_pair_double(json, "p_adjusted", row->p_adjusted);
        json_pair(json, "test", row->test);
        json_pair_int(json, "n", (int64_t)row->n);
        json_pair(json, "verdict", roast_verdict_names[row->verdict]);
        json_pair(json, "why", row->verdict == ROAST_VERDICT_NONE ? row->why : "");
        json_end(json);
}

static void compare_put_runs(struct json *json, const struct roast_comparison *comparison)
{
        json_key(json, "runs");
        json_array(json);
        for (size_t i = 0; i < comparison->n_runs; i++) {
                const struct roast_compare_run *run = &comparison->runs[i];

                json_object(json);
                json_pair(json, "path", run->path);
                json_pair(json, "name", run->name);
                json_pair_int(json, "group", (int64_t)run->group);
                json_pair_int(json, "chunks", (int64_t)run->chunks);
                json_pair_double(json, "waiting", run->waiting);
                json_end(json);
        }
        json_end(json);
        json_key(json, "matched_by");
        json_array(json);
        for (size_t i = 1; i < comparison->n_groups; i++)
                json_string(json, comparison->matched_by[i]);
        json_end(json);
}

static void compare_put_environment(struct json *json, const struct roast_comparison *comparison)
{
        json_key(json, "environment");
        json_array(json);
        for (size_t i = 0; i < comparison->n_differences; i++) {
                json_object(json);
                json_pair(json, "name", comparison->differences[i].name);
                json_key(json, "values");
                json_array(json);
                for (size_t j = 0; j < comparison->n_groups; j++)
                        json_string(json, comparison->differences[i].values[j]);
                json_end(json);
                json_end(json);
        }
        json_end(json);
}

/* The sentences, one by one */
static int compare_put_notes(struct json *json, const struct roast_comparison *comparison)
{
        ROAST_CLEANUP(cleanup_free) char *notes = roast_comparison_notes(comparison);
        char *rest = notes, *note;

        if (!notes)
                return ROAST_E_NOMEM;
        json_key(json, "notes");
        json_array(json);
        while ((note = strsep(&rest, "\n")) && *note)
                json_string(json, note);
        json_end(json);
        return 0;
}

int roast_comparison_to_json(char **ret, const struct roast_comparison *comparison,
                             struct roast_error *error)
{
        ROAST_CLEANUP(buf_deinit) struct buf out = BUF_INIT;
        struct json json = { .out = &out };

        json_object(&json);
        compare_put_runs(&json, comparison);
        compare_put_environment(&json, comparison);
        if (compare_put_notes(&json, comparison) < 0)
                return roast_fail_nomem(error);
        json_key(&json, "rows");
        json_array(&json);
        for (size_t i = 0; i < comparison->n_rows; i++)
                compare_put_row(&json, &comparison->rows[i]);
        json_end(&json);
        json_end(&json);
        if (json.error >= 0)
                json.error = buf_puts(&out, "\n");
        *ret = json.error < 0 ? NULL : buf_release_string(&out);
        return *ret ? 0 : roast_fail_nomem(error);
}
