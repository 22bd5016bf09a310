/* Metrics that users registered: see custom.h. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "metrics/custom.h"
#include "util/text.h"

void custom_deinit(struct roast_custom *custom)
{
        free(custom->key);
        free(custom->title);
        free(custom->unit);
        free(custom->value.reason);
        *custom = (struct roast_custom){ 0 };
}

struct roast_custom *custom_of(struct roast_summary *summary, const char *key, size_t len)
{
        struct roast_custom *grown;

        for (size_t i = 0; i < summary->n_customs; i++)
                if (!strncmp(summary->customs[i].key, key, len) && !summary->customs[i].key[len])
                        return &summary->customs[i];
        grown = realloc(summary->customs, (summary->n_customs + 1) * sizeof(*grown));
        if (!grown)
                return NULL;
        summary->customs = grown;
        grown += summary->n_customs;
        *grown = (struct roast_custom){ .key = text_copy(key, len) };
        if (!grown->key)
                return NULL;
        summary->n_customs++;
        return grown;
}

static int custom_set_text(char **text, const struct roast_fact *fact)
{
        free(*text);
        *text = NULL;
        if (fact->type != ROAST_FACT_TEXT || !*fact->text)
                return 0;
        *text = strdup(fact->text);
        return *text ? 0 : ROAST_E_NOMEM;
}

static enum roast_better custom_better_of(const struct roast_fact *fact)
{
        if (fact->type != ROAST_FACT_TEXT)
                return ROAST_BETTER_NEUTRAL;
        return !strcmp(fact->text, "more")   ? ROAST_BETTER_MORE
               : !strcmp(fact->text, "less") ? ROAST_BETTER_LESS
                                             : ROAST_BETTER_NEUTRAL;
}

/* A value that is absent always has a reason: that tells it from one that never came. */
static int custom_set_value(struct roast_value *value, const struct roast_fact *fact)
{
        const char *why = fact->type == ROAST_FACT_TEXT     ? "not a number"
                          : fact->type == ROAST_FACT_ABSENT ? fact->text ? fact->text : "not known"
                          : !isfinite(fact->real)           ? "not finite"
                                                            : NULL;

        free(value->reason);
        *value = (struct roast_value){ 0 };
        if (!why) {
                value->state = ROAST_KNOWN;
                value->real = fact->real;
                value->count = fact->type == ROAST_FACT_INT ? fact->integer : 0;
                return 0;
        }
        value->reason = strdup(why);
        return value->reason ? 0 : ROAST_E_NOMEM;
}

int custom_note(struct roast_summary *summary, const char *name, const struct roast_fact *fact)
{
        size_t len = strcspn(name, ".");
        const char *part = name + len;
        struct roast_custom *custom = custom_of(summary, name, len);

        if (!custom)
                return ROAST_E_NOMEM;
        if (!*part)
                return custom_set_value(&custom->value, fact);
        if (!strcmp(part, ".title"))
                return custom_set_text(&custom->title, fact);
        if (!strcmp(part, ".unit"))
                return custom_set_text(&custom->unit, fact);
        if (!strcmp(part, ".better"))
                custom->better = custom_better_of(fact);
        return 0;
}

static int custom_by_key(const void *a, const void *b)
{
        return strcmp(((const struct roast_custom *)a)->key, ((const struct roast_custom *)b)->key);
}

/* A key is a name wherever metrics are shown. */
static bool custom_is_name(const char *key)
{
        return *key && !(*key >= '0' && *key <= '9') &&
               !key[strspn(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")];
}

void custom_end(struct roast_summary *summary)
{
        size_t n = 0;

        for (size_t i = 0; i < summary->n_customs; i++) {
                struct roast_custom *custom = &summary->customs[i];
                bool known = custom->value.state != ROAST_ABSENT || custom->value.reason;

                /* a key of the registry means what the registry says */
                if (!custom_is_name(custom->key) || !known || roast_metric_find(custom->key) >= 0)
                        custom_deinit(custom);
                else
                        summary->customs[n++] = *custom;
        }
        summary->n_customs = n;
        if (n)
                qsort(summary->customs, n, sizeof(*summary->customs), custom_by_key);
}
