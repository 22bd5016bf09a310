/* The values of a JSON text: see source.h. */

#include <math.h>

#include "util/cleanup.h"
#include "util/source.h"

static struct source_json *source_json_of(struct source *in)
{
        return (struct source_json *)in;
}

/* What a call of the reader returned; whether it failed is also known of one that said "no more" */
static bool source_noted(struct source *in, bool good)
{
        in->bad = source_json_of(in)->in->problem || source_json_of(in)->in->nomem;
        return good && !in->bad;
}

static enum json_type source_json_type(struct source *in)
{
        return json_read_type(source_json_of(in)->in);
}

static bool source_json_enter(struct source *in)
{
        struct json_reader *reader = source_json_of(in)->in;

        return source_noted(in, json_read_type(reader) == JSON_ARRAY ? json_read_array(reader)
                                                                     : json_read_object(reader));
}

static bool source_json_key(struct source *in)
{
        return source_noted(in, json_read_key(source_json_of(in)->in, &source_json_of(in)->key));
}

static bool source_json_element(struct source *in)
{
        return source_noted(in, json_read_element(source_json_of(in)->in));
}

static bool source_json_key_text(struct source *in, struct json_text *text)
{
        *text = source_json_of(in)->key;
        return true;
}

/* Seconds, or a text as isoformat() writes it */
static void source_read_instant(struct json_number *ns, const struct json_text *text)
{
        *ns = (struct json_number){ .real = (double)NAN };
        ns->whole = python_time_read(text->data, text->len, &ns->integer);
        if (ns->whole)
                ns->real = (double)ns->integer;
}

static bool source_json_key_instant(struct source *in, struct json_number *ns)
{
        source_read_instant(ns, &source_json_of(in)->key);
        return true;
}

static bool source_json_instant(struct source *in, struct json_number *ns)
{
        struct json_text text;

        *ns = (struct json_number){ .real = (double)NAN };
        if (json_read_type(source_json_of(in)->in) != JSON_STRING)
                return source_noted(in, json_read_skip(source_json_of(in)->in));
        if (!source_noted(in, json_read_string(source_json_of(in)->in, &text)))
                return false;
        source_read_instant(ns, &text);
        return true;
}

static int source_json_key_tuple(struct source *in, struct python_tuple *tuple)
{
        return python_tuple_read(tuple, source_json_of(in)->key.data, source_json_of(in)->key.len);
}

static bool source_json_text(struct source *in, struct json_text *text)
{
        return source_noted(in, json_read_string(source_json_of(in)->in, text));
}

static bool source_json_number(struct source *in, struct json_number *number)
{
        return source_noted(in, json_read_number(source_json_of(in)->in, number));
}

static bool source_json_boolean(struct source *in, bool *value)
{
        return source_noted(in, json_read_bool(source_json_of(in)->in, value));
}

static bool source_json_skip(struct source *in)
{
        return source_noted(in, json_read_skip(source_json_of(in)->in));
}

static bool source_json_fail(struct source *in, const char *problem)
{
        return source_noted(in, problem ? json_read_fail(source_json_of(in)->in, problem)
                                        : json_read_nomem(source_json_of(in)->in));
}

static const struct source_ops source_json_ops = {
        .type = source_json_type,
        .enter = source_json_enter,
        .key = source_json_key,
        .element = source_json_element,
        .key_text = source_json_key_text,
        .key_instant = source_json_key_instant,
        .key_tuple = source_json_key_tuple,
        .text = source_json_text,
        .number = source_json_number,
        .boolean = source_json_boolean,
        .instant = source_json_instant,
        .skip_one = source_json_skip,
        .fail_with = source_json_fail,
};

struct source *source_json_init(struct source_json *json, struct json_reader *in)
{
        *json = (struct source_json){ .source.ops = &source_json_ops, .in = in };
        return &json->source;
}
