/* The costs of whole files: see costs.h. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/clusters.h"
#include "analyze/costs.h"

static int costs_allocate(struct costs *files, const struct costs *costs)
{
        size_t n = costs->n_files + 1;

        files->file = malloc(n * sizeof(*files->file));
        files->dataset = malloc(n * sizeof(*files->dataset));
        files->cluster = calloc(n, sizeof(*files->cluster));
        files->events = calloc(n, sizeof(*files->events));
        files->entry_start = malloc(n * sizeof(*files->entry_start));
        files->entry_stop = malloc(n * sizeof(*files->entry_stop));
        files->file_name = malloc(n * sizeof(*files->file_name));
        files->file_uuid = malloc(n * sizeof(*files->file_uuid));
        files->sections = calloc(costs->n_sections + 1, sizeof(*files->sections));
        if (!files->file || !files->dataset || !files->cluster || !files->events ||
            !files->entry_start || !files->entry_stop || !files->file_name || !files->file_uuid ||
            !files->sections)
                return ROAST_E_NOMEM;
        for (int i = 0; i < COST_N_MEASURES; i++)
                if (!(files->measures[i] = calloc(n, sizeof(float))))
                        return ROAST_E_NOMEM;
        for (; files->n_sections < costs->n_sections; files->n_sections++) {
                struct cost_section *section = &files->sections[files->n_sections];

                *section = costs->sections[files->n_sections];
                if (!(section->seconds = calloc(n, sizeof(float))))
                        return ROAST_E_NOMEM;
        }
        return 0;
}

static int costs_copy_names(struct intern *to, const struct intern *from)
{
        for (size_t i = 0; i < from->n; i++) {
                size_t len;
                const char *name = intern_get(from, i, &len);

                if (intern_put(to, name, len) < 0)
                        return ROAST_E_NOMEM;
        }
        return 0;
}

/* Sums over the chunks; what one chunk does not know is not known of the file. */
static void costs_add_chunk(struct costs *files, const struct costs *costs, size_t unit)
{
        uint32_t file = costs->file[unit];

        if (files->events[file] == 0)
                files->dataset[file] = costs->dataset[unit];
        files->events[file] += costs->events[unit];
        for (int i = 0; i < COST_N_MEASURES; i++)
                files->measures[i][file] += costs->measures[i][unit];
        for (size_t i = 0; i < costs->n_sections; i++)
                files->sections[i].seconds[file] += costs->sections[i].seconds[unit];
}

int costs_by_file(struct costs *files, const struct costs *costs)
{
        *files = (struct costs){ .n = costs->n_files,
                                 .n_files = costs->n_files,
                                 .n_clusters = costs->n_files,
                                 .events_total = costs->events_total,
                                 .chunk_events = costs->chunk_events };
        if (costs_allocate(files, costs) < 0 ||
            costs_copy_names(&files->names, &costs->names) < 0) {
                costs_deinit(files);
                return ROAST_E_NOMEM;
        }
        /* chunks of a file are on any worker: files that came one after the other shared the time
         */
        if (files->n_clusters > CLUSTERS_MAX)
                files->n_clusters = CLUSTERS_MAX;
        for (size_t i = 0; i < files->n; i++) {
                files->file[i] = (uint32_t)i;
                files->cluster[i] = (uint16_t)(i * files->n_clusters / files->n);
                files->file_name[i] = costs->file_name[i];
                files->file_uuid[i] = costs->file_uuid[i];
                files->entry_start[i] = files->entry_stop[i] = INT64_MIN;
        }
        for (size_t i = 0; i < costs->n; i++)
                costs_add_chunk(files, costs, i);
        return 0;
}
