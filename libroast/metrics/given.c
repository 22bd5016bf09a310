/* Figures in the place of what is measured: see given.h. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "metrics/chunk-stats.h"
#include "metrics/given.h"
#include "record/chunk.h"

static int given_set(struct roast_metric_set *set, enum roast_metric metric,
                     const struct roast_fact *fact)
{
        if (fact->type == ROAST_FACT_ABSENT)
                return fact->text ? roast_metric_set_absent(set, metric, "%s", fact->text) : 0;
        if (fact->type == ROAST_FACT_TEXT)
                return roast_metric_set_absent(set, metric, "not a number");
        if (!isfinite(fact->real))
                return roast_metric_set_absent(set, metric, "not finite");
        if (fact->text)
                return roast_metric_set_estimated(set, metric, fact->real, "%s", fact->text);
        if (fact->type == ROAST_FACT_INT && roast_metrics[metric].type == ROAST_TYPE_COUNT)
                roast_metric_set_count(set, metric, fact->integer);
        else
                roast_metric_set_real(set, metric, fact->real);
        return 0;
}

/* Makes room for element n of an array, zeroed. */
static void *given_grow(void *array, size_t n, size_t size)
{
        char *grown = realloc(array, (n + 1) * size);

        if (grown)
                memset(grown + n * size, 0, size);
        return grown;
}

static bool given_is(const char *known, const char *name)
{
        return known && name ? !strcmp(known, name) : known == name;
}

static struct roast_dataset *given_dataset(struct roast_summary *summary, const char *name)
{
        struct roast_dataset *grown;

        for (size_t i = 0; i < summary->n_datasets; i++)
                if (given_is(summary->datasets[i].name, name))
                        return &summary->datasets[i];
        grown = given_grow(summary->datasets, summary->n_datasets, sizeof(*grown));
        if (!grown)
                return NULL;
        summary->datasets = grown;
        grown += summary->n_datasets++;
        grown->name = name ? strdup(name) : NULL;
        return name && !grown->name ? NULL : grown;
}

static struct roast_section *given_section(struct roast_summary *summary, const char *name)
{
        struct roast_section *grown;

        for (size_t i = 0; i < summary->n_sections; i++)
                if (!strcmp(summary->sections[i].name, name ? name : ""))
                        return &summary->sections[i];
        grown = given_grow(summary->sections, summary->n_sections, sizeof(*grown));
        if (!grown)
                return NULL;
        summary->sections = grown;
        grown += summary->n_sections;
        grown->name = strdup(name ? name : "");
        if (!grown->name)
                return NULL;
        summary->n_sections++;
        return grown;
}

/* The number of chunks comes first: a mean is of so many. */
static int given_note_dataset(struct roast_summary *summary, const char *field, size_t len,
                              const char *name, const struct roast_fact *fact)
{
        struct roast_dataset *dataset = given_dataset(summary, name);
        bool known = isfinite(fact->real) && fact->type != ROAST_FACT_ABSENT;

        if (!dataset)
                return ROAST_E_NOMEM;
        if (!strncmp(field, "num_chunks", len)) {
                dataset->finished = stat_whole(fact->real);
        } else if (!strncmp(field, "total_events", len)) {
                dataset->events = stat_whole(fact->real);
        } else if (known && !strncmp(field, "total_duration", len)) {
                dataset->wall_s = fact->real;
                dataset->wall_chunks = dataset->finished;
        } else if (known && !dataset->wall_chunks && !strncmp(field, "mean_duration", len)) {
                dataset->wall_s = fact->real * (double)dataset->finished;
                dataset->wall_chunks = dataset->finished;
        }
        dataset->wall_events = dataset->wall_chunks ? dataset->events : 0;
        return 0;
}

static int given_note_section(struct roast_summary *summary, const char *field, size_t len,
                              const char *name, const struct roast_fact *fact)
{
        struct roast_section *section = given_section(summary, name);
        bool known = isfinite(fact->real) && fact->type != ROAST_FACT_ABSENT;

        if (!section)
                return ROAST_E_NOMEM;
        if (!strncmp(field, "count", len)) {
                section->chunks = section->count = stat_whole(fact->real);
        } else if (known && !strncmp(field, "total_duration", len)) {
                section->kind |= SECTION_TIME;
                section->total_s = section->self_s = fact->real;
        } else if (known && !strncmp(field, "mean_mem_delta_mb", len)) {
                section->kind |= SECTION_MEMORY;
                section->memory_chunks = 1;
                section->rss_delta_bytes = fact->real * CHUNK_MIB;
        }
        return 0;
}

int given_note(struct roast_summary *summary, const char *key, const struct roast_fact *fact)
{
        bool dataset = !strncmp(key, "dataset.", 8), section = !strncmp(key, "section.", 8);
        size_t len = strcspn(key + 8 * (dataset || section), ".");
        int metric;

        if (dataset || section) {
                const char *field = key + 8, *name = field[len] ? field + len + 1 : NULL;

                return dataset ? given_note_dataset(summary, field, len, name, fact)
                               : given_note_section(summary, field, len, name, fact);
        }
        metric = roast_metric_find(key);
        return metric < 0 ? 0 : given_set(&summary->metrics, (enum roast_metric)metric, fact);
}
