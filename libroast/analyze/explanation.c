/* What the rules found, as JSON, as text for a terminal, as Markdown */

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "roast-explain.h"
#include "roast-units.h"
#include "util/buf.h"
#include "util/cleanup.h"
#include "util/json.h"
#include "util/utf8.h"

#define WIDTH_LEAST 40
#define WIDTH_ELSE  80

static void explanation_put_finding(struct json *json, const struct roast_finding *finding)
{
        json_object(json);
        json_pair(json, "rule", finding->rule);
        json_pair(json, "title", finding->title);
        json_pair_double(json, "saves_s", finding->saves_s);
        json_pair_double(json, "share", finding->share);
        json_pair_bool(json, "estimated", finding->estimated);
        json_pair(json, "threshold", finding->threshold);
        json_key(json, "evidence");
        json_array(json);
        for (size_t i = 0; i < finding->n_evidence; i++)
                json_string(json, finding->evidence[i]);
        json_end(json);
        json_key(json, "subjects");
        json_array(json);
        for (size_t i = 0; i < finding->n_subjects; i++) {
                json_object(json);
                json_pair(json, "kind", finding->subjects[i].kind);
                json_pair(json, "name", finding->subjects[i].name);
                json_pair(json, "value", finding->subjects[i].value);
                json_end(json);
        }
        json_end(json);
        json_pair(json, "try", finding->advice);
        json_end(json);
}

int roast_explanation_to_json(char **ret, const struct roast_explanation *explanation,
                              struct roast_error *error)
{
        ROAST_CLEANUP(buf_deinit) struct buf out = BUF_INIT;
        struct json json = { .out = &out };

        json_object(&json);
        json_pair_double(&json, "elapsed_s", explanation->elapsed_s);
        json_pair_double(&json, "threads", explanation->threads);
        json_key(&json, "findings");
        json_array(&json);
        for (size_t i = 0; i < explanation->n_findings; i++)
                explanation_put_finding(&json, &explanation->findings[i]);
        json_end(&json);
        json_key(&json, "checked");
        json_array(&json);
        for (size_t i = 0; i < explanation->n_unfired; i++) {
                json_object(&json);
                json_pair(&json, "rule", explanation->unfired[i].rule);
                json_pair(&json, "why_not", explanation->unfired[i].why_not);
                json_end(&json);
        }
        json_end(&json);
        json_end(&json);
        if (json.error >= 0)
                json.error = buf_puts(&out, "\n");
        *ret = json.error < 0 ? NULL : buf_release_string(&out);
        return *ret ? 0 : roast_fail_nomem(error);
}

/* A writer of lines: errors are kept, and checked once at the end */
struct page {
        struct buf out;
        const struct roast_explain_view *view;
        size_t width;
        int error;
};

static void explanation_put(struct page *page, const char *text, size_t len)
{
        if (page->error >= 0)
                page->error = buf_append(&page->out, text, len);
}

static void explanation_puts(struct page *page, const char *text)
{
        explanation_put(page, text, strlen(text));
}

static void explanation_emphasis(struct page *page, const char *code)
{
        if (page->view->color)
                explanation_puts(page, code);
}

/* Text from a file: what a terminal would obey, or Markdown would, is made harmless. */
static void explanation_put_clean(struct page *page, const char *text, size_t len)
{
        for (size_t i = 0; i < len; i++) {
                size_t control = utf8_control(text + i);

                if (control)
                        i += control - 1;
                else if (page->view->markdown && strchr("\\`*_<>[]|#", text[i]))
                        explanation_put(page, "\\", 1);
                explanation_put(page, control ? "?" : text + i, 1);
        }
}

/* Bytes that begin a character; those that continue one have no width */
static size_t explanation_width_of(const char *text, size_t len)
{
        size_t width = 0;

        for (size_t i = 0; i < len; i++)
                width += ((unsigned char)text[i] & 0xc0) != 0x80;
        return width;
}

/* Words, broken at the width; lines after the first are indented. */
static void explanation_put_words(struct page *page, const char *first, size_t indent,
                                  const char *text)
{
        size_t at = explanation_width_of(first, strlen(first)), begin = at;

        explanation_puts(page, first);
        while (*text) {
                size_t len = strcspn(text, " "), width = explanation_width_of(text, len);

                if (!page->view->markdown && at > begin && at + 1 + width > page->width) {
                        explanation_puts(page, "\n");
                        for (size_t i = 0; i < indent; i++)
                                explanation_put(page, " ", 1);
                        at = begin = indent;
                } else if (at > begin) {
                        explanation_put(page, " ", 1);
                        at++;
                }
                explanation_put_clean(page, text, len);
                at += width;
                text += len;
                text += strspn(text, " ");
        }
        explanation_puts(page, "\n");
}

__attribute__((format(printf, 4, 5))) static void
explanation_put_format(struct page *page, const char *first, size_t indent, const char *format, ...)
{
        ROAST_CLEANUP(cleanup_free) char *text = NULL;
        va_list args;

        va_start(args, format);
        if (vasprintf(&text, format, args) < 0) {
                text = NULL;
                page->error = ROAST_E_NOMEM;
        }
        va_end(args);
        if (text)
                explanation_put_words(page, first, indent, text);
}

static void explanation_put_savings(struct page *page, const struct roast_finding *finding)
{
        char seconds[ROAST_UNITS_MAX];

        if (isnan(finding->saves_s)) {
                explanation_puts(page, page->view->markdown ? "No time is known.\n"
                                                            : "   no time is known\n");
                return;
        }
        roast_format_seconds(seconds, sizeof(seconds), finding->saves_s);
        explanation_emphasis(page, "\033[33m");
        explanation_put_format(page, page->view->markdown ? "Could save " : "   could save ", 8,
                               "%s%s, %.0f %% of the run%s", finding->estimated ? "about " : "",
                               seconds, 100 * finding->share, page->view->markdown ? "." : "");
        explanation_emphasis(page, "\033[0m");
}

static const char *explanation_bullet(const struct page *page)
{
        return page->view->markdown ? "- " : "   - ";
}

static void explanation_put_text_finding(struct page *page, const struct roast_finding *finding,
                                         size_t number)
{
        char head[64];

        explanation_puts(page, "\n");
        snprintf(head, sizeof(head), page->view->markdown ? "## %zu. " : "%zu. ", number);
        explanation_emphasis(page, "\033[1m");
        explanation_put_words(page, head, 3, finding->title);
        explanation_emphasis(page, "\033[0m");
        if (page->view->markdown)
                explanation_puts(page, "\n");
        explanation_put_savings(page, finding);
        if (page->view->markdown)
                explanation_puts(page, "\n");
        for (size_t i = 0; i < finding->n_evidence; i++)
                explanation_put_words(page, explanation_bullet(page), 5, finding->evidence[i]);
        for (size_t i = 0; i < finding->n_subjects; i++)
                explanation_put_format(page, explanation_bullet(page), 5, "%s %s: %s",
                                       finding->subjects[i].kind, finding->subjects[i].name,
                                       finding->subjects[i].value);
        if (page->view->markdown)
                explanation_puts(page, "\n");
        explanation_put_words(page, page->view->markdown ? "Try: " : "   try: ", 8,
                              finding->advice);
        if (page->view->markdown)
                explanation_puts(page, "\n");
        explanation_emphasis(page, "\033[2m");
        explanation_put_format(page, page->view->markdown ? "Rule " : "   rule ", 8, "%s, %s",
                               finding->rule, finding->threshold);
        explanation_emphasis(page, "\033[0m");
}

static void explanation_put_unfired(struct page *page, const struct roast_explanation *explanation)
{
        if (page->view->markdown)
                explanation_puts(page, "\n## Rules that found nothing\n\n");
        else
                explanation_puts(page, "\nRules that found nothing:\n");
        for (size_t i = 0; i < explanation->n_unfired; i++)
                explanation_put_format(page, explanation_bullet(page), 5, "%s: %s",
                                       explanation->unfired[i].rule,
                                       explanation->unfired[i].why_not);
}

static void explanation_put_head(struct page *page, const struct roast_explanation *explanation)
{
        char line[160], seconds[ROAST_UNITS_MAX];

        roast_format_seconds(seconds, sizeof(seconds), explanation->elapsed_s);
        if (explanation->n_findings == 0)
                snprintf(line, sizeof(line), "No rule found lost time (%zu rules).",
                         explanation->n_unfired);
        else
                snprintf(line, sizeof(line),
                         "%zu finding%s in a run of %s with %.1f threads; savings overlap.",
                         explanation->n_findings, explanation->n_findings == 1 ? "" : "s", seconds,
                         explanation->threads);
        explanation_put_words(page, "", 0, line);
}

int roast_explanation_to_text(char **ret, const struct roast_explanation *explanation,
                              const struct roast_explain_view *view, struct roast_error *error)
{
        struct page page = { .view = view, .width = view->width ? view->width : WIDTH_ELSE };

        if (page.width < WIDTH_LEAST)
                page.width = WIDTH_LEAST;
        explanation_put_head(&page, explanation);
        for (size_t i = 0; i < explanation->n_findings; i++)
                explanation_put_text_finding(&page, &explanation->findings[i], i + 1);
        if (view->all)
                explanation_put_unfired(&page, explanation);
        *ret = page.error < 0 ? NULL : buf_release_string(&page.out);
        buf_deinit(&page.out);
        return *ret ? 0 : roast_fail_nomem(error);
}
