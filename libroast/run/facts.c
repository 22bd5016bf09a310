/* Reading the facts of a run, and what they say about the run itself */

#include <stdlib.h>
#include <string.h>

#include "run/run.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/intern.h"
#include "util/text.h"

struct fact_row {
        char *name;
        struct roast_fact fact;
        char *text;
};

/* Rows by the numbers of their names: a cluster has a name of its own for the clock of each worker,
 * and rows as often as its estimate moves. */
struct fact_list {
        struct intern names;
        struct fact_row *rows;
        size_t n;
        size_t cap;
};

static void facts_list_deinit(struct fact_list *list)
{
        for (size_t i = 0; i < list->n; i++) {
                free(list->rows[i].name);
                free(list->rows[i].text);
        }
        free(list->rows);
        intern_deinit(&list->names);
}

/* The row of that name, a new one if there is none; NULL: no memory */
static struct fact_row *facts_find_row(struct fact_list *list, const char *name, size_t len)
{
        int64_t number = intern_put(&list->names, name, len);

        if (number < 0)
                return NULL;
        if ((size_t)number < list->n)
                return &list->rows[number];
        if (ARRAY_ROOM(list->rows, list->n, list->cap) < 0)
                return NULL;
        list->rows[list->n] = (struct fact_row){ .name = text_copy(name, len) };
        if (!list->rows[list->n].name)
                return NULL;
        return &list->rows[list->n++];
}

static int facts_note_row(struct fact_list *list, const struct run_value *values)
{
        const struct run_value *value = &values[FACT_VALUE];
        struct fact_row *row;

        if (values[FACT_NAME].type != RUN_STRING)
                return 0;
        row = facts_find_row(list, values[FACT_NAME].data, values[FACT_NAME].len);
        if (!row)
                return ROAST_E_NOMEM;
        free(row->text);
        row->text = NULL;
        row->fact = (struct roast_fact){ .type = ROAST_FACT_ABSENT };
        if (value->type == RUN_NULL)
                value = &values[FACT_REASON];
        else if (value->type == RUN_INT)
                row->fact = (struct roast_fact){ .type = ROAST_FACT_INT,
                                                 .integer = value->integer,
                                                 .real = (double)value->integer };
        else if (value->type == RUN_REAL)
                row->fact = (struct roast_fact){ .type = ROAST_FACT_REAL, .real = value->real };
        else if (value->type == RUN_STRING)
                row->fact.type = ROAST_FACT_TEXT;
        if (row->fact.type == ROAST_FACT_INT || row->fact.type == ROAST_FACT_REAL)
                value = &values[2]; /* how it was estimated */
        if (value->type == RUN_STRING) {
                row->text = text_copy(value->data, value->len);
                if (!row->text)
                        return ROAST_E_NOMEM;
        }
        return 0;
}

int roast_run_facts(struct roast_run *run,
                    int (*visit)(const struct roast_fact *fact, void *context), void *context,
                    struct roast_error *error)
{
        ROAST_CLEANUP(facts_list_deinit) struct fact_list list = { 0 };
        struct run_scan scan;
        int r;

        r = run_view_begin(run, error);
        if (r < 0)
                return r;
        r = run_scan_begin(&scan, run, RUN_FACT, error);
        while (r >= 0 && (r = run_scan_next(&scan, error)) > 0)
                if (facts_note_row(&list, scan.values) < 0)
                        r = roast_fail_nomem(error);
        run_scan_end(&scan);
        run_view_end(run);
        for (size_t i = 0; i < list.n && r >= 0; i++) {
                list.rows[i].fact.name = list.rows[i].name;
                list.rows[i].fact.text = list.rows[i].text;
                if (visit(&list.rows[i].fact, context))
                        break;
        }
        return r < 0 ? r : 0;
}

struct about_context {
        struct roast_run *run;
        struct roast_run_about *about;
        bool nomem;
};

static void facts_keep(struct about_context *context, char **slot, const char *text)
{
        free(*slot);
        *slot = text ? strdup(text) : NULL;
        if (text && !*slot)
                context->nomem = true;
}

static int facts_note_about(const struct roast_fact *fact, void *data)
{
        struct about_context *context = data;
        struct roast_run *run = context->run;

        if (!strcmp(fact->name, "run.id"))
                facts_keep(context, &run->about_id, fact->text);
        else if (!strcmp(fact->name, "run.name"))
                facts_keep(context, &run->about_name, fact->text);
        else if (!strcmp(fact->name, "run.outcome"))
                facts_keep(context, &run->about_outcome, fact->text);
        else if (!strcmp(fact->name, "run.error"))
                facts_keep(context, &run->about_error, fact->text);
        else if (!strcmp(fact->name, "run.start_utc_ns") && fact->type == ROAST_FACT_INT)
                context->about->start_utc_ns = fact->integer;
        else if (!strcmp(fact->name, "run.end_utc_ns") && fact->type == ROAST_FACT_INT)
                context->about->end_utc_ns = fact->integer;
        return 0;
}

int roast_run_about(struct roast_run *run, struct roast_run_about *about, struct roast_error *error)
{
        struct about_context context = { .run = run, .about = about };
        int r;

        *about = (struct roast_run_about){ .start_utc_ns = INT64_MIN, .end_utc_ns = INT64_MIN };
        r = roast_run_facts(run, facts_note_about, &context, error);
        if (r < 0)
                return r;
        if (context.nomem)
                return roast_fail_nomem(error);
        about->id = run->about_id;
        about->name = run->about_name;
        about->outcome = about->end_utc_ns == INT64_MIN ? NULL : run->about_outcome;
        about->error = run->about_error;
        return 0;
}
