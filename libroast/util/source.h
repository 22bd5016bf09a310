#pragma once
/*
 * Plain values, pulled piece by piece: JSON text, or objects of Python
 *
 * Whoever reads documented data asks for the next key, element or value, and skips what it does not
 * need. The first error stays: every later call fails, so that a walk is checked once at its end.
 *
 *     source_enter(in);
 *     while (source_key(in))
 *             if (source_key_is(in, "events"))
 *                     source_number(in, &number);
 *             else
 *                     source_skip(in);
 *     return !in->bad;
 */

#include <string.h>

#include "util/json-read.h"
#include "util/python-text.h"

struct source_ops;

struct source {
        const struct source_ops *ops;
        const void *key; /* two keys that have the same one are equal; NULL: compare the text */
        bool bad;
};

struct source_ops {
        enum json_type (*type)(struct source *in);
        bool (*enter)(struct source *in);
        bool (*key)(struct source *in);
        bool (*element)(struct source *in);
        bool (*key_text)(struct source *in, struct json_text *text);
        bool (*key_instant)(struct source *in, struct json_number *ns);
        int (*key_tuple)(struct source *in, struct python_tuple *tuple);
        bool (*text)(struct source *in, struct json_text *text);
        bool (*number)(struct source *in, struct json_number *number);
        bool (*boolean)(struct source *in, bool *value);
        bool (*instant)(struct source *in, struct json_number *ns);
        bool (*skip_one)(struct source *in);
        bool (*cbor)(struct source *in, struct buf *out); /* NULL: made of the others */
        bool (*fail_with)(struct source *in, const char *problem);
};

/* Of the value that comes next. What is neither of these is JSON_NULL. */
static inline enum json_type source_type(struct source *in)
{
        return in->ops->type(in);
}

/* Enters an object or an array; source_key() or source_element() leaves it at its end. */
static inline bool source_enter(struct source *in)
{
        return in->ops->enter(in);
}

/* Whether there is another one; its value is read or skipped before the next call. */
static inline bool source_key(struct source *in)
{
        return in->ops->key(in);
}

static inline bool source_element(struct source *in)
{
        return in->ops->element(in);
}

/* The key as text, valid until the next value is read. One that is no text has none: data is NULL.
 */
static inline bool source_key_text(struct source *in, struct json_text *text)
{
        return in->ops->key_text(in, text);
}

/* An instant in nanoseconds since 1970; one without a zone counts as UTC. NaN: it is none. */
static inline bool source_key_instant(struct source *in, struct json_number *ns)
{
        return in->ops->key_instant(in, ns);
}

static inline bool source_instant(struct source *in, struct json_number *ns)
{
        return in->ops->instant(in, ns);
}

/* A tuple of texts, whole numbers and None: 1, 0 if it is none, or ROAST_E_NOMEM */
static inline int source_key_tuple(struct source *in, struct python_tuple *tuple)
{
        return in->ops->key_tuple(in, tuple);
}

/* Valid until the next text is read */
static inline bool source_text(struct source *in, struct json_text *text)
{
        return in->ops->text(in, text);
}

/* What only looks like a number is NaN. */
static inline bool source_number(struct source *in, struct json_number *number)
{
        return in->ops->number(in, number);
}

static inline bool source_boolean(struct source *in, bool *value)
{
        return in->ops->boolean(in, value);
}

static inline bool source_skip(struct source *in)
{
        return in->ops->skip_one(in);
}

/* What the caller found wrong with what it reads, or that it has no memory; they return false. */
static inline bool source_fail(struct source *in, const char *problem)
{
        return in->ops->fail_with(in, problem);
}

static inline bool source_nomem(struct source *in)
{
        return in->ops->fail_with(in, NULL);
}

static inline bool source_key_is(struct source *in, const char *name)
{
        struct json_text text;

        return source_key_text(in, &text) && text.data && json_text_is(&text, name);
}

/* Enters what should be an object or an array; anything else is passed over: false. */
static inline bool source_enter_if(struct source *in, enum json_type type)
{
        if (source_type(in) == type)
                return source_enter(in);
        source_skip(in);
        return false;
}

/* A number; anything else is passed over, and NaN. */
static inline bool source_number_or_nan(struct source *in, struct json_number *number)
{
        *number = (struct json_number){ .real = __builtin_nan("") };
        return source_type(in) == JSON_NUMBER ? source_number(in, number) : source_skip(in);
}

/* source-json.c: the values of a JSON text */
struct source_json {
        struct source source;
        struct json_reader *in;
        struct json_text key;
};

struct source *source_json_init(struct source_json *json, struct json_reader *in);
