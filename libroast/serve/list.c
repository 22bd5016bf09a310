/* The list of the runs: see list.h. */

#include <stdio.h>
#include <string.h>

#include "roast-units.h"
#include "run/list.h"
#include "serve/list.h"
#include "util/html.h"
#include "util/json.h"

const char list_style[] =
        ":root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}"
        "body{max-width:60rem;margin:2rem auto;padding:0 1rem}"
        "table{border-collapse:collapse;width:100%}"
        "th,td{text-align:left;padding:.4rem .8rem .4rem 0;border-bottom:1px solid #8884}"
        "th{font-weight:600}td.quiet{color:#777}";

/* A run that cannot be read is listed with the reason. */
struct listed {
        struct roast_run *run; /* NULL: see the error */
        struct roast_run_about about;
        struct roast_error error;
};

static void list_open_listed(struct listed *listed, const struct served *served)
{
        *listed = (struct listed){ 0 };
        if (roast_run_open_any(&listed->run, served->path, &listed->error) < 0) {
                listed->run = NULL;
                return;
        }
        if (roast_run_about(listed->run, &listed->about, &listed->error) < 0) {
                roast_run_free(listed->run);
                listed->run = NULL;
        }
}

static void list_put_time(struct json *json, const char *key, int64_t utc_ns)
{
        json_key(json, key);
        if (utc_ns == INT64_MIN)
                json_null(json);
        else
                json_double(json, (double)utc_ns / 1e9);
}

int list_json(struct buf *out, struct catalog *catalog, struct roast_error *error)
{
        struct json json = { .out = out };

        json_object(&json);
        json_key(&json, "runs");
        json_array(&json);
        for (const struct served *served = NULL; (served = catalog_next(catalog, served));) {
                struct listed listed;

                list_open_listed(&listed, served);
                json_object(&json);
                json_pair(&json, "id", served->id);
                if (listed.run) {
                        json_pair(&json, "name", listed.about.name);
                        json_pair(&json, "outcome", listed.about.outcome);
                        list_put_time(&json, "start", listed.about.start_utc_ns);
                        list_put_time(&json, "end", listed.about.end_utc_ns);
                } else {
                        json_pair(&json, "error", listed.error.message);
                }
                json_end(&json);
                roast_run_free(listed.run);
        }
        json_end(&json);
        json_end(&json);
        if (json.error >= 0)
                json.error = buf_puts(out, "\n");
        return json.error < 0 ? roast_fail_nomem(error) : 0;
}

int list_link(struct buf *out, const char *id)
{
        int r = buf_puts(out, "/runs/");

        for (; *id && r >= 0; id++) {
                bool plain = (*id >= '0' && *id <= '9') || (*id >= 'a' && *id <= 'z') ||
                             (*id >= 'A' && *id <= 'Z') || strchr("-._~", *id);

                r = plain ? buf_put_u8(out, (uint8_t)*id)
                          : buf_printf(out, "%%%02X", (unsigned char)*id);
        }
        if (r >= 0)
                r = buf_puts(out, "/");
        if (r >= 0)
                r = buf_reserve(out, 1);
        if (r >= 0)
                out->data[out->len] = '\0';
        return r;
}

static int list_put_row(struct buf *out, const struct served *served, const struct listed *listed)
{
        char time[ROAST_UNITS_MAX] = "";
        int r = buf_puts(out, "<tr><td><a href=\"");

        if (listed->run && listed->about.start_utc_ns != INT64_MIN)
                roast_format_utc(time, sizeof(time), listed->about.start_utc_ns);
        if (r >= 0)
                r = list_link(out, served->id);
        if (r >= 0)
                r = buf_puts(out, "\">");
        if (r >= 0)
                r = html_put(out, served->id);
        if (r >= 0)
                r = buf_puts(out, "</a></td><td>");
        if (r >= 0)
                r = html_put(out, time);
        if (r >= 0)
                r = buf_puts(out, listed->run ? "</td><td>" : "</td><td class=\"quiet\">");
        if (r >= 0)
                r = html_put(out, listed->run ? run_state(&listed->about) : listed->error.message);
        return r < 0 ? r : buf_puts(out, "</td></tr>\n");
}

int list_html(struct buf *out, struct catalog *catalog, struct roast_error *error)
{
        int r = buf_puts(out, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
                              "<meta http-equiv=\"Content-Security-Policy\" content=\""
                              "default-src 'none'; style-src 'self'; base-uri 'none'; form-action"
                              " 'none'\">"
                              "<meta name=\"viewport\" content=\"width=device-width,"
                              " initial-scale=1\"><title>Runs – roast</title>"
                              "<link rel=\"stylesheet\" href=\"/style.css\"></head>\n<body><main>"
                              "<h1>Runs</h1>\n<table><thead><tr><th>Run</th><th>Begun (UTC)</th>"
                              "<th>State</th></tr></thead><tbody>\n");

        for (const struct served *served = NULL;
             r >= 0 && (served = catalog_next(catalog, served));) {
                struct listed listed;

                list_open_listed(&listed, served);
                r = list_put_row(out, served, &listed);
                roast_run_free(listed.run);
        }
        if (r >= 0 && !catalog_next(catalog, NULL))
                r = buf_puts(out, "<tr><td class=\"quiet\" colspan=\"3\">There are no runs here"
                                  " yet.</td></tr>\n");
        if (r >= 0)
                r = buf_puts(out, "</tbody></table></main></body></html>\n");
        return r < 0 ? roast_fail_nomem(error) : 0;
}
