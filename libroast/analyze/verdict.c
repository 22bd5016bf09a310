/* What a rule says: see rule.h. */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/rule.h"
#include "metrics/stat.h"
#include "roast-units.h"
#include "util/text.h"

static char *verdict_next_text(void)
{
        static _Thread_local char texts[8][ROAST_UNITS_MAX];
        static _Thread_local unsigned int turn;

        turn = (turn + 1) % 8;
        return texts[turn];
}

const char *say_s(double seconds)
{
        return roast_format_seconds(verdict_next_text(), ROAST_UNITS_MAX, seconds);
}

const char *say_bytes(double bytes)
{
        return roast_format_bytes(verdict_next_text(), ROAST_UNITS_MAX, bytes);
}

const char *say_count(double count)
{
        return roast_format_count(verdict_next_text(), ROAST_UNITS_MAX, stat_whole(count));
}

void top_add(struct top *top, size_t index, double value)
{
        size_t i = top->n < TOP_MAX ? top->n++ : TOP_MAX;

        if (i == TOP_MAX) {
                if (!(value > top->items[TOP_MAX - 1].value))
                        return;
                i--;
        }
        for (; i > 0 && value > top->items[i - 1].value; i--)
                top->items[i] = top->items[i - 1];
        top->items[i].index = index;
        top->items[i].value = value;
}

static char *verdict_say(struct verdict *verdict, const char *format, va_list args)
{
        char *text;

        if (vasprintf(&text, format, args) >= 0)
                return text;
        verdict->nomem = true;
        return NULL;
}

int verdict_why_not(struct verdict *verdict, const char *format, ...)
{
        va_list args;

        va_start(args, format);
        free(verdict->why_not);
        verdict->why_not = verdict_say(verdict, format, args);
        va_end(args);
        return 0;
}

int verdict_fire(struct verdict *verdict, const struct study *study, double thread_s,
                 const char *format, ...)
{
        struct roast_finding *finding = &verdict->finding;
        va_list args;

        verdict->fires = true;
        finding->saves_s = study->threads > 0 ? thread_s / study->threads : (double)NAN;
        if (finding->saves_s > study->elapsed_s)
                finding->saves_s = study->elapsed_s;
        finding->share = study->elapsed_s > 0 ? finding->saves_s / study->elapsed_s : (double)NAN;
        va_start(args, format);
        free(finding->title);
        finding->title = verdict_say(verdict, format, args);
        va_end(args);
        return 0;
}

int verdict_evidence(struct verdict *verdict, const char *format, ...)
{
        struct roast_finding *finding = &verdict->finding;
        char **grown = realloc(finding->evidence, (finding->n_evidence + 1) * sizeof(*grown));
        va_list args;

        if (!grown) {
                verdict->nomem = true;
                return 0;
        }
        finding->evidence = grown;
        va_start(args, format);
        grown[finding->n_evidence] = verdict_say(verdict, format, args);
        va_end(args);
        finding->n_evidence += grown[finding->n_evidence] != NULL;
        return 0;
}

/* Takes the name over. */
static void verdict_add_subject(struct verdict *verdict, const char *kind, char *name, char *value)
{
        struct roast_finding *finding = &verdict->finding;
        struct roast_subject *grown =
                realloc(finding->subjects, (finding->n_subjects + 1) * sizeof(*grown));

        if (grown)
                finding->subjects = grown;
        if (!grown || !name || !value) {
                verdict->nomem = true;
                free(name);
                free(value);
                return;
        }
        grown[finding->n_subjects++] = (struct roast_subject){ kind, name, value };
}

int verdict_subject(struct verdict *verdict, const struct study *study, const char *kind,
                    uint32_t number, const char *format, ...)
{
        size_t len;
        const char *text = study_text(study, number, &len);
        va_list args;
        char *value;

        va_start(args, format);
        value = verdict_say(verdict, format, args);
        va_end(args);
        verdict_add_subject(verdict, kind, text ? text_copy(text, len) : strdup("(without a name)"),
                            value);
        return 0;
}

int verdict_name(struct verdict *verdict, const char *kind, const char *name, size_t len,
                 const char *format, ...)
{
        va_list args;
        char *value;

        va_start(args, format);
        value = verdict_say(verdict, format, args);
        va_end(args);
        verdict_add_subject(verdict, kind, text_copy(name, name ? len : 0), value);
        return 0;
}

int verdict_chunk(struct verdict *verdict, const struct study *study,
                  const struct study_chunk *chunk, const char *format, ...)
{
        size_t len;
        const char *file = study_text(study, chunk->file, &len);
        char *name = NULL, *value;
        va_list args;

        if (asprintf(&name, "%.*s:%lu-%lu", (int)len, file ? file : "",
                     (unsigned long)chunk->entry_start,
                     (unsigned long)chunk->entry_start + chunk->events) < 0)
                name = NULL;
        va_start(args, format);
        value = verdict_say(verdict, format, args);
        va_end(args);
        verdict_add_subject(verdict, "chunk", name, value);
        return 0;
}
