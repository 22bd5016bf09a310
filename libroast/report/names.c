/* Names of workers, datasets and files, numbered as the page uses them */

#include <stdlib.h>

#include "report/report.h"
#include "util/array.h"

void report_names_deinit(struct report_names *names)
{
        free(names->slots);
        free(names->texts);
        *names = (struct report_names){ 0 };
}

int64_t report_name(struct report *report, struct report_names *names, int64_t text_id)
{
        size_t id = text_id < 0 || (uint64_t)text_id > report->texts.n ? 0 : (size_t)text_id;

        if (!names->slots)
                names->slots = calloc(report->texts.n + 1, sizeof(*names->slots));
        if (!names->slots)
                return ROAST_E_NOMEM;
        if (names->slots[id])
                return names->slots[id] - 1;
        if (ARRAY_ROOM(names->texts, names->n, names->cap) < 0)
                return ROAST_E_NOMEM;
        names->texts[names->n] = (uint32_t)id;
        names->slots[id] = (uint32_t)++names->n;
        return (int64_t)names->n - 1;
}

void report_put_text(struct report *report, int64_t text_id)
{
        size_t len;
        const char *text;

        if (text_id < 1 || (uint64_t)text_id > report->texts.n) {
                json_null(&report->pack->json);
                return;
        }
        text = intern_get(&report->texts, (size_t)text_id - 1, &len);
        json_string_n(&report->pack->json, text, len);
}

void report_put_names(struct report *report, const char *key, const struct report_names *names)
{
        struct json *json = &report->pack->json;

        json_key(json, key);
        json_array(json);
        for (size_t i = 0; i < names->n; i++)
                report_put_text(report, names->texts[i]);
        json_end(json);
}
