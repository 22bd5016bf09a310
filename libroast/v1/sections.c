/* Section records and spans that were given, as rows of a run: see plain.h. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "record/chunk.h"
#include "run/run.h"
#include "util/cleanup.h"
#include "util/intern.h"
#include "util/text.h"
#include "v1/plain.h"
#include "v1/record.h"

static bool sections_check(struct source *in, int r)
{
        return r >= 0 || source_fail(in, "the run does not take it");
}

/* A section record that is being read */
struct sections_record {
        char *name; /* NULL: it has none */
        char *type;
        double duration_ns; /* NaN: not known */
        double delta_bytes;
};

static void sections_record_deinit(struct sections_record *record)
{
        free(record->name);
        free(record->type);
}

static bool sections_read_text(struct source *in, char **ret)
{
        struct json_text text;

        if (source_type(in) != JSON_STRING)
                return source_skip(in);
        if (!source_text(in, &text))
                return false;
        free(*ret);
        *ret = text.data ? text_copy(text.data, text.len) : NULL;
        return !text.data || *ret || source_nomem(in);
}

static bool sections_read_record(struct source *in, struct sections_record *record)
{
        struct json_number number;

        while (source_key(in)) {
                bool duration = source_key_is(in, "duration");

                if (source_key_is(in, "name")   ? !sections_read_text(in, &record->name)
                    : source_key_is(in, "type") ? !sections_read_text(in, &record->type)
                                                : !source_number_or_nan(in, &number))
                        return false;
                if (duration && isfinite(number.real * 1e9))
                        record->duration_ns = number.real * 1e9;
                else if (source_key_is(in, "mem_delta_mb"))
                        record->delta_bytes = number.real * V1_MIB;
        }
        return !in->bad;
}

static bool sections_add(struct roast_run *run, struct source *in, struct intern *names,
                         const struct sections_record *record, struct roast_error *error)
{
        const char *name = record->name ? record->name : "unknown";
        const char *type = record->type ? record->type : "section";
        bool memory = !strcmp(type, "memory");
        struct run_value values[2 + SECTION_N_FIELDS] = { 0 };
        ROAST_CLEANUP(cleanup_free) char *fact = NULL;
        size_t n = names->n;

        values[2 + SECTION_KIND] = run_int(SECTION_TIME | (memory ? SECTION_MEMORY : 0));
        values[2 + SECTION_COUNT] = run_int(1);
        values[2 + SECTION_TOTAL_NS] = values[2 + SECTION_SELF_NS] = values[2 + SECTION_MIN_NS] =
                values[2 + SECTION_MAX_NS] = run_real(record->duration_ns);
        if (memory && isfinite(record->delta_bytes))
                values[2 + SECTION_RSS_DELTA_BYTES] = run_real(record->delta_bytes);
        if (!sections_check(in, run_text_value(run, name, strlen(name), &values[1], error)) ||
            !sections_check(in, run_insert(run, RUN_SECTION, values, 2 + SECTION_N_FIELDS, error)))
                return false;
        if (intern_put(names, name, strlen(name)) < 0)
                return source_nomem(in);
        if (names->n == n)
                return true;
        if (asprintf(&fact, "section.type.%s", name) < 0) {
                fact = NULL;
                return source_nomem(in);
        }
        return sections_check(in, roast_run_fact_text(run, fact, type, error));
}

bool v1_sections_read(struct roast_run *run, struct source *in, struct roast_error *error)
{
        ROAST_CLEANUP(intern_deinit) struct intern names = { 0 };

        if (!source_enter_if(in, JSON_ARRAY))
                return !in->bad;
        while (source_element(in)) {
                ROAST_CLEANUP(sections_record_deinit)
                struct sections_record record = { .duration_ns = (double)NAN,
                                                  .delta_bytes = (double)NAN };

                if (!source_enter_if(in, JSON_OBJECT))
                        continue;
                if (!sections_read_record(in, &record) ||
                    !sections_add(run, in, &names, &record, error))
                        return false;
        }
        return !in->bad;
}

static bool sections_read_span(struct roast_run *run, struct source *in, struct roast_error *error)
{
        ROAST_CLEANUP(python_tuple_deinit) struct python_tuple span = { 0 };
        const struct python_item *items = span.items;
        struct json_number number;
        int r = source_key_tuple(in, &span);

        if (r < 0)
                return source_nomem(in);
        if (!source_number_or_nan(in, &number))
                return false;
        if (r == 0 || span.n < 3 || isnan(number.real))
                return true;
        return sections_check(in,
                              roast_run_add_span(run, items[0].text ? items[0].text : "",
                                                 items[1].text, items[2].text ? items[2].text : "",
                                                 items[3].text, number.real, error));
}

bool v1_spans_add(struct roast_run *run, struct source *in, struct roast_error *error)
{
        if (!source_enter_if(in, JSON_OBJECT))
                return !in->bad;
        while (source_key(in))
                if (!sections_read_span(run, in, error))
                        return false;
        return !in->bad;
}
