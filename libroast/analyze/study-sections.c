/* The sections of a run's chunks: see study.h. */

#include <stdlib.h>

#include "analyze/study.h"
#include "record/chunk.h"
#include "util/cleanup.h"

/* The section of that name; NULL: no memory */
static struct study_section *study_section_of(struct study *study, uint32_t *slots, uint32_t name)
{
        struct study_section *grown;

        if (slots[name])
                return &study->sections[slots[name] - 1];
        grown = realloc(study->sections, (study->n_sections + 1) * sizeof(*grown));
        if (!grown)
                return NULL;
        study->sections = grown;
        grown[study->n_sections] = (struct study_section){ .name = name };
        slots[name] = (uint32_t)++study->n_sections;
        return &grown[study->n_sections - 1];
}

static void study_add(struct study_section *section, const struct study_chunk *chunk, double self_s)
{
        double awake_s = (double)chunk->wall_s - (double)chunk->asleep_s;
        double x = chunk->order, y;

        section->chunks++;
        section->self_s += self_s;
        if (!isnan(awake_s)) {
                section->wait_least_s += fmax(self_s - awake_s, 0);
                section->wait_most_s += fmin(self_s, (double)chunk->asleep_s);
        }
        if (chunk->events == 0)
                return;
        y = self_s / chunk->events;
        section->n++;
        section->x += x;
        section->y += y;
        section->xx += x * x;
        section->xy += x * y;
        section->yy += y * y;
        section->order_events += x * chunk->events;
}

/* values: chunk_id, name_text, then the fields */
int study_sections(struct study *study, struct roast_run *run, struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_free) uint32_t *slots = NULL;
        struct run_scan scan;
        int r;

        slots = calloc(study->texts.n + 1, sizeof(*slots));
        if (!slots)
                return roast_fail_nomem(error);
        r = run_scan_begin(&scan, run, RUN_SECTION, error);
        while (r >= 0 && (r = run_scan_next(&scan, error)) > 0) {
                uint64_t id = (uint64_t)scan.values[PART_CHUNK_ID].integer;
                uint32_t name = study_number(study, &scan.values[PART_NAME]);
                double self_s = study_seconds(&scan.values[SECTION_COLUMN_SELF_NS]);
                struct study_section *section;

                if (id >= study->n_index || !study->index[id] || name == STUDY_NONE ||
                    !(self_s >= 0))
                        continue;
                section = study_section_of(study, slots, name);
                if (!section) {
                        r = roast_fail_nomem(error);
                        break;
                }
                study_add(section, &study->chunks[study->index[id] - 1], self_s);
        }
        run_scan_end(&scan);
        return r;
}
