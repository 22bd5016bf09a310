/* TaskVine's `taskgraph`: which tasks make the same file */

#include <stdlib.h>
#include <string.h>

#include "import/vine.h"
#include "util/array.h"

void vine_graph_deinit(struct vine_graph *graph)
{
        intern_deinit(&graph->files);
        free(graph->products);
        free(graph->makers);
        *graph = (struct vine_graph){ 0 };
}

static int vine_add_product(struct vine_graph *graph, int64_t task, const char *file)
{
        int64_t number = intern_put(&graph->files, file, strlen(file));

        if (number < 0)
                return (int)number;
        if (ARRAY_ROOM(graph->products, graph->n, graph->cap) < 0)
                return ROAST_E_NOMEM;
        graph->products[graph->n++] = (struct vine_product){ task, number };
        return 0;
}

/* TASK T12 "program" INPUTS name... OUTPUTS name...; results that stay on workers are temp-... */
static int vine_read_task(struct vine_graph *graph, char *at)
{
        const char *name = vine_word(&at);
        int64_t task = name[0] == 'T' ? vine_number(name + 1) : -1;
        char *outputs = strstr(at, " OUTPUTS ");

        if (task < 0 || !outputs)
                return 0;
        outputs += strlen(" OUTPUTS ");
        for (const char *file = vine_word(&outputs); *file; file = vine_word(&outputs))
                if (!strncmp(file, "temp-", 5)) {
                        int r = vine_add_product(graph, task, file);

                        if (r < 0)
                                return r;
                }
        return 0;
}

static int vine_compare_products(const void *a, const void *b)
{
        const struct vine_product *x = a, *y = b;

        return (x->task > y->task) - (x->task < y->task);
}

static int vine_note_makers(struct vine_graph *graph)
{
        if (graph->n == 0)
                return 0;
        qsort(graph->products, graph->n, sizeof(*graph->products), vine_compare_products);
        graph->makers = malloc(graph->files.n * sizeof(*graph->makers));
        if (!graph->makers)
                return ROAST_E_NOMEM;
        for (size_t i = graph->n; i-- > 0;)
                graph->makers[graph->products[i].file] = graph->products[i].task;
        return 0;
}

int vine_graph_read(struct vine_graph *graph, FILE *in, struct roast_error *error)
{
        char *line = malloc(VINE_LINE_MAX);
        int r = line ? 0 : ROAST_E_NOMEM;

        while (r >= 0 && vine_line(in, line)) {
                char *at = line;

                if (!strcmp(vine_word(&at), "TASK"))
                        r = vine_read_task(graph, at);
        }
        free(line);
        if (r >= 0)
                r = vine_note_makers(graph);
        return r < 0 ? roast_fail_nomem(error) : 0;
}

int64_t vine_graph_origin(const struct vine_graph *graph, int64_t task)
{
        struct vine_product wanted = { .task = task };
        const struct vine_product *found;

        if (graph->n == 0)
                return task;
        found = bsearch(&wanted, graph->products, graph->n, sizeof(wanted), vine_compare_products);
        return found ? graph->makers[found->file] : task;
}
