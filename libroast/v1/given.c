/* The documented dict of metrics as facts of a run: see plain.h. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "run/run.h"
#include "util/cleanup.h"
#include "util/intern.h"
#include "util/size.h"
#include "v1/plain.h"

/* Reasons by key, in two lists of the same length */
struct given_reasons {
        struct intern keys;
        struct intern texts;
        int64_t *numbers; /* of the texts */
};

static void given_reasons_deinit(struct given_reasons *reasons)
{
        intern_deinit(&reasons->keys);
        intern_deinit(&reasons->texts);
        free(reasons->numbers);
}

static bool given_read_reasons(struct source *in, struct given_reasons *reasons)
{
        struct json_text text;
        int64_t *grown;

        if (!source_enter_if(in, JSON_OBJECT))
                return !in->bad;
        while (source_key(in)) {
                if (!source_key_text(in, &text))
                        return false;
                if (source_type(in) != JSON_STRING || !text.data) {
                        source_skip(in);
                        continue;
                }
                if (intern_put(&reasons->keys, text.data, text.len) < 0)
                        return source_nomem(in);
                grown = realloc(reasons->numbers, reasons->keys.n * sizeof(*grown));
                if (!grown || !source_text(in, &text))
                        return grown ? false : source_nomem(in);
                reasons->numbers = grown;
                grown[reasons->keys.n - 1] =
                        intern_put(&reasons->texts, text.data ? text.data : "", text.len);
                if (grown[reasons->keys.n - 1] < 0)
                        return source_nomem(in);
        }
        return !in->bad;
}

static struct run_value given_reason(const struct given_reasons *reasons,
                                     const struct json_text *key)
{
        int64_t i = reasons->keys.n ? intern_find(&reasons->keys, key->data, key->len) : -1;
        const char *text;
        size_t len;

        if (i < 0)
                return (struct run_value){ 0 };
        text = intern_get(&reasons->texts, (size_t)reasons->numbers[i], &len);
        return run_string(text, len);
}

static bool given_add(struct roast_run *run, struct source *in, const char *name,
                      struct run_value value, struct run_value reason, struct roast_error *error)
{
        const struct run_value row[] = { run_string(name, strlen(name)), value, reason };

        return run_insert(run, RUN_FACT, row, ROAST_ARRAY_SIZE(row), error) >= 0 ||
               source_fail(in, "the run does not take it");
}

/* The value that comes next: a number, text for what is none, or null */
static bool given_value(struct source *in, struct run_value *value)
{
        struct json_number number;
        enum json_type type = source_type(in);

        *value = type == JSON_NULL ? (struct run_value){ 0 } : run_string("none", 4);
        if (type != JSON_NUMBER)
                return source_skip(in);
        if (!source_number(in, &number))
                return false;
        if (number.whole)
                *value = run_int(number.integer);
        else if (!isnan(number.real))
                *value = run_real(number.real);
        return true;
}

/* {name: {field: number}} as given.KIND.FIELD.NAME; what is no mapping is passed over */
static bool given_read_things(struct roast_run *run, struct source *in, const char *kind,
                              struct roast_error *error)
{
        struct json_text name, field;

        if (!source_enter_if(in, JSON_OBJECT))
                return !in->bad;
        while (source_key(in)) {
                ROAST_CLEANUP(cleanup_free) char *suffix = NULL;

                if (!source_key_text(in, &name))
                        return false;
                if (asprintf(&suffix, ".%.*s", (int)name.len, name.data ? name.data : "") < 0) {
                        suffix = NULL;
                        return source_nomem(in);
                }
                if (!source_enter_if(in, JSON_OBJECT))
                        continue;
                while (source_key(in)) {
                        ROAST_CLEANUP(cleanup_free) char *fact = NULL;
                        struct run_value value;

                        if (!source_key_text(in, &field) || !field.data ||
                            asprintf(&fact, "given.%s.%.*s%s", kind, (int)field.len, field.data,
                                     name.data ? suffix : "") < 0)
                                return source_nomem(in);
                        if (!given_value(in, &value) ||
                            !given_add(run, in, fact, value, (struct run_value){ 0 }, error))
                                return false;
                }
        }
        return !in->bad;
}

static bool given_read_metric(struct roast_run *run, struct source *in,
                              const struct given_reasons reasons[2], struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_free) char *fact = NULL;
        struct run_value value, absent;
        struct json_text key;

        if (!source_key_text(in, &key))
                return false;
        if (!key.data || asprintf(&fact, "given.%.*s", (int)key.len, key.data) < 0)
                return key.data ? source_nomem(in) : source_skip(in);
        absent = given_reason(&reasons[0], &key);
        if (!given_value(in, &value))
                return false;
        if (absent.type != RUN_NULL)
                return given_add(run, in, fact, (struct run_value){ 0 }, absent, error);
        if (value.type == RUN_NULL)
                return true;
        return given_add(run, in, fact, value,
                         value.type == RUN_STRING ? (struct run_value){ 0 }
                                                  : given_reason(&reasons[1], &key),
                         error);
}

/* Of what is absent there need be no key. */
static bool given_add_absent(struct roast_run *run, struct source *in,
                             const struct given_reasons *absent, struct roast_error *error)
{
        for (size_t i = 0; i < absent->keys.n; i++) {
                ROAST_CLEANUP(cleanup_free) char *fact = NULL;
                struct json_text key;

                key.data = intern_get(&absent->keys, i, &key.len);
                if (asprintf(&fact, "given.%.*s", (int)key.len, key.data) < 0) {
                        fact = NULL;
                        return source_nomem(in);
                }
                if (!given_add(run, in, fact, (struct run_value){ 0 }, given_reason(absent, &key),
                               error))
                        return false;
        }
        return true;
}

bool v1_given_read(struct roast_run *run, struct source *in, struct source *absent,
                   struct source *estimated, struct roast_error *error)
{
        struct given_reasons reasons[2] = { 0 };
        bool good = given_read_reasons(absent, &reasons[0]) &&
                    given_read_reasons(estimated, &reasons[1]) &&
                    given_add_absent(run, in, &reasons[0], error);

        good = good && source_enter(in);
        while (good && source_key(in))
                good = source_key_is(in, "per_dataset")
                               ? given_read_things(run, in, "dataset", error)
                       : source_key_is(in, "sections")
                               ? given_read_things(run, in, "section", error)
                               : given_read_metric(run, in, reasons, error);
        given_reasons_deinit(&reasons[0]);
        given_reasons_deinit(&reasons[1]);
        return good && !in->bad;
}
