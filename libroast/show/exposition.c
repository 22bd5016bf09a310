/* The lines of an OpenMetrics exposition: see exposition.h. */

#include "show/exposition.h"
#include "util/utf8.h"

static void exposition_put_int(struct exposition *e, int64_t value)
{
        uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;
        char text[24], *at = text + sizeof(text);

        do
                *--at = (char)('0' + rest % 10);
        while (rest /= 10);
        if (value < 0)
                *--at = '-';
        exposition_put(e, at, (size_t)(text + sizeof(text) - at));
}

/* How many characters from here on stand for themselves */
static size_t exposition_plain_length(const char *text, size_t len)
{
        size_t n = 0;

        while (n < len && text[n] >= 0x20 && text[n] < 0x7f && text[n] != '"' && text[n] != '\\')
                n++;
        return n;
}

void exposition_escaped(struct exposition *e, const char *text)
{
        size_t len = strlen(text);

        for (size_t i = 0; i < len;) {
                size_t plain = exposition_plain_length(text + i, len - i);
                size_t n = plain ? plain : utf8_length((const uint8_t *)text + i, len - i);

                if (plain)
                        exposition_put(e, text + i, plain);
                else if (n == 0)
                        exposition_puts(e, "\xef\xbf\xbd");
                else if (text[i] == '\n')
                        exposition_puts(e, "\\n");
                else if (text[i] == '"' || text[i] == '\\')
                        exposition_put(e, (char[]){ '\\', text[i] }, 2);
                else
                        exposition_put(e, text + i, n);
                i += n ? n : 1;
        }
}

void exposition_family(struct exposition *e, const char *name, const char *type, const char *unit)
{
        e->family = name;
        e->family_len = strlen(name);
        e->suffix = !strcmp(type, "counter") ? "_total" : "";
        exposition_puts(e, "# TYPE roast_");
        exposition_puts(e, name);
        exposition_puts(e, " ");
        exposition_puts(e, type);
        if (unit) {
                exposition_puts(e, "\n# UNIT roast_");
                exposition_puts(e, name);
                exposition_puts(e, " ");
                exposition_puts(e, unit);
        }
        exposition_puts(e, "\n# HELP roast_");
        exposition_puts(e, name);
        exposition_puts(e, " ");
}

void exposition_help(struct exposition *e, const char *text)
{
        exposition_escaped(e, text);
        exposition_puts(e, "\n");
}

void exposition_sample(struct exposition *e)
{
        exposition_put(e, "roast_", 6);
        exposition_put(e, e->family, e->family_len);
        exposition_puts(e, e->suffix);
}

void exposition_int(struct exposition *e, int64_t value)
{
        exposition_put(e, " ", 1);
        exposition_put_int(e, value);
        exposition_put(e, "\n", 1);
}

void exposition_real(struct exposition *e, double value)
{
        exposition_put(e, " ", 1);
        if (e->error >= 0)
                e->error = buf_put_real(&e->out, value);
        exposition_put(e, "\n", 1);
}

void exposition_label(struct exposition *e, const char *before, const char *name, const char *value)
{
        exposition_puts(e, before);
        exposition_puts(e, name);
        exposition_puts(e, "=\"");
        exposition_escaped(e, value);
        exposition_put(e, "\"", 1);
}
