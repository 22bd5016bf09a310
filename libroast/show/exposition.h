#pragma once
/*
 * The lines of an OpenMetrics exposition
 *
 * A family has a type, a unit and a help text, then its samples: name, labels,
 * value. The first error stays, and nothing is written behind it.
 */

#include <string.h>

#include "util/buf.h"

struct exposition {
        struct buf out;
        int error;
        const char *family; /* name of the current one */
        size_t family_len;
        const char *suffix; /* of its samples */
        char name[128];
};

/* Small pieces are the rule: they go without a call where there is room. */
static inline void exposition_put(struct exposition *e, const char *data, size_t len)
{
        struct buf *out = &e->out;

        if (e->error < 0)
                return;
        if (len > out->cap - out->len) {
                e->error = buf_append(out, data, len);
                return;
        }
        memcpy(out->data + out->len, data, len);
        out->len += len;
}

static inline void exposition_puts(struct exposition *e, const char *text)
{
        exposition_put(e, text, strlen(text));
}

/* A label's value, or a help text: well-formed UTF-8, on one line */
void exposition_escaped(struct exposition *e, const char *text);
/* `name` is that of the family, without "_total" for a counter. */
void exposition_family(struct exposition *e, const char *name, const char *type, const char *unit);
void exposition_help(struct exposition *e, const char *text);
/* The name of a sample; labels, if any, and a value follow. */
void exposition_sample(struct exposition *e);
void exposition_label(struct exposition *e, const char *before, const char *name,
                      const char *value);
void exposition_int(struct exposition *e, int64_t value);
void exposition_real(struct exposition *e, double value);
