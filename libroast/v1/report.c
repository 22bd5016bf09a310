/* coffea's report and the figures in its place, as facts of a run: see plain.h. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "metrics/report.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/text.h"
#include "v1/plain.h"

static bool report_check(struct source *in, int r)
{
        return r >= 0 || source_fail(in, "the run does not take it");
}

bool v1_add_figure(struct roast_run *run, struct source *in, const char *name,
                   const struct json_number *number, const char *why, struct roast_error *error)
{
        if (number->whole)
                return report_check(in, roast_run_fact_int(run, name, number->integer, error));
        if (isfinite(number->real))
                return report_check(in, roast_run_fact_real(run, name, number->real, error));
        return report_check(in, roast_run_fact_absent(run, name, why, error));
}

static bool report_read_field(struct roast_run *run, struct source *in, const char *field,
                              struct roast_error *error)
{
        enum json_type type = source_type(in);
        struct json_number number;
        char name[64], why[96];

        if (!source_number_or_nan(in, &number))
                return false;
        snprintf(name, sizeof(name), "report.%s", field);
        snprintf(why, sizeof(why), "the report's %s is not %s", field,
                 type == JSON_NUMBER ? "finite" : "a number");
        return v1_add_figure(run, in, name, &number, why, error);
}

struct report_lines {
        char **lines;
        size_t n;
        size_t cap;
};

static void report_lines_deinit(struct report_lines *lines)
{
        for (size_t i = 0; i < lines->n; i++)
                free(lines->lines[i]);
        free(lines->lines);
}

static int report_by_text(const void *a, const void *b)
{
        return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The columns in alphabetical order, one a line */
static bool report_read_columns(struct roast_run *run, struct source *in, struct roast_error *error)
{
        ROAST_CLEANUP(report_lines_deinit) struct report_lines lines = { 0 };
        ROAST_CLEANUP(buf_deinit) struct buf out = BUF_INIT;
        struct json_text text;
        int r = 0;

        if (!source_enter_if(in, JSON_ARRAY))
                return !in->bad;
        while (source_element(in)) {
                if (source_type(in) != JSON_STRING) {
                        source_skip(in);
                        continue;
                }
                if (!source_text(in, &text))
                        return false;
                if (!text.data)
                        continue;
                if (ARRAY_ROOM(lines.lines, lines.n, lines.cap) < 0 ||
                    !(lines.lines[lines.n] = text_copy(text.data, text.len)))
                        return source_nomem(in);
                lines.n++;
        }
        if (in->bad)
                return false;
        if (lines.n)
                qsort(lines.lines, lines.n, sizeof(*lines.lines), report_by_text);
        for (size_t i = 0; i < lines.n && r == 0; i++)
                r = buf_printf(&out, "%s%s", i ? "\n" : "", lines.lines[i]);
        if (r < 0 || buf_put_u8(&out, 0) < 0)
                return source_nomem(in);
        return report_check(
                in, roast_run_fact_text(run, "report.columns", (const char *)out.data, error));
}

bool v1_report_read(struct roast_run *run, struct source *in, struct roast_error *error)
{
        bool seen[REPORT_N_FIELDS] = { 0 };
        char name[64], why[96];

        if (!source_enter(in))
                return false;
        while (source_key(in)) {
                size_t i = 0;
                bool good;

                while (i < REPORT_N_FIELDS && !source_key_is(in, report_fields[i].name))
                        i++;
                if (i < REPORT_N_FIELDS) {
                        seen[i] = true;
                        good = report_read_field(run, in, report_fields[i].name, error);
                } else {
                        good = source_key_is(in, "columns") ? report_read_columns(run, in, error)
                                                            : source_skip(in);
                }
                if (!good)
                        return false;
        }
        for (size_t i = 0; i < REPORT_N_FIELDS && !in->bad; i++) {
                if (seen[i])
                        continue;
                snprintf(name, sizeof(name), "report.%s", report_fields[i].name);
                snprintf(why, sizeof(why), "the report has no '%s'", report_fields[i].name);
                report_check(in, roast_run_fact_absent(run, name, why, error));
        }
        return !in->bad;
}

struct report_void {
        struct report_lines names;
        bool nomem;
};

static int report_note_void(const struct roast_fact *fact, void *context)
{
        struct report_void *gone = context;

        if (strncmp(fact->name, "custom.", 7) || fact->type == ROAST_FACT_ABSENT)
                return 0;
        if (ARRAY_ROOM(gone->names.lines, gone->names.n, gone->names.cap) < 0 ||
            !(gone->names.lines[gone->names.n] = strdup(fact->name))) {
                gone->nomem = true;
                return 1;
        }
        gone->names.n++;
        return 0;
}

static bool report_void_custom(struct roast_run *run, struct source *in, struct roast_error *error)
{
        struct report_void gone = { 0 };
        bool good = report_check(in, roast_run_facts(run, report_note_void, &gone, error)) &&
                    (!gone.nomem || source_nomem(in));

        for (size_t i = 0; i < gone.names.n && good; i++)
                good = report_check(in,
                                    roast_run_fact_absent(run, gone.names.lines[i],
                                                          "a later report came without it", error));
        report_lines_deinit(&gone.names);
        return good;
}

static bool report_read_custom(struct roast_run *run, struct source *in, const char *dataset,
                               const char *field, struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_free) char *name = NULL;
        struct json_number number;

        if (asprintf(&name, "custom.%s.%s", field, dataset) < 0) {
                name = NULL;
                return source_nomem(in);
        }
        return source_number_or_nan(in, &number) &&
               v1_add_figure(run, in, name, &number, "not a number", error);
}

/* {"entries": ..., "duration": ..., "performance_counters": {"num_requested_bytes": ...}} */
static bool report_read_dataset(struct roast_run *run, struct source *in, const char *dataset,
                                struct roast_error *error)
{
        if (!source_enter_if(in, JSON_OBJECT))
                return !in->bad;
        while (source_key(in)) {
                bool good;

                if (source_key_is(in, "entries")) {
                        good = report_read_custom(run, in, dataset, "entries", error);
                } else if (source_key_is(in, "duration")) {
                        good = report_read_custom(run, in, dataset, "duration", error);
                } else if (source_key_is(in, "performance_counters")) {
                        good = true;
                        if (source_enter_if(in, JSON_OBJECT))
                                while (good && source_key(in))
                                        good = source_key_is(in, "num_requested_bytes")
                                                       ? report_read_custom(run, in, dataset,
                                                                            "bytes", error)
                                                       : source_skip(in);
                } else {
                        good = source_skip(in);
                }
                if (!good)
                        return false;
        }
        return !in->bad;
}

bool v1_custom_read(struct roast_run *run, struct source *in, struct roast_error *error)
{
        bool any = false;

        if (!report_void_custom(run, in, error))
                return false;
        if (!source_enter_if(in, JSON_OBJECT))
                return !in->bad;
        while (source_key(in)) {
                ROAST_CLEANUP(cleanup_free) char *dataset = NULL;
                struct json_text key;

                if (!source_key_text(in, &key))
                        return false;
                dataset = text_copy(key.data ? key.data : "", key.len);
                if (!dataset)
                        return source_nomem(in);
                any = true;
                if (!report_read_dataset(run, in, dataset, error))
                        return false;
        }
        /* the report's sums are replaced, whatever these tell */
        return !in->bad &&
               (!any || report_check(in, roast_run_fact_int(run, "custom.given", 1, error)));
}
