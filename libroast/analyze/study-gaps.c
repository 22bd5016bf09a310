/* The time between the chunks of a thread: see study.h. */

#include <stdlib.h>
#include <string.h>

#include "analyze/study.h"
#include "util/array.h"
#include "util/cleanup.h"

/* A gap that exceeds the typical one by this factor and time has another cause. */
#define GAP_FACTOR  3
#define GAP_LEAST_S 0.2

/* Chunks that overlap by less may be of one thread: wall times are rounded. */
#define OVERLAP_LEAST_S 1e-3
/* Of one worker. With more of them chunks do overlap, but no worker runs as many. */
#define LANES_MAX 1024

/*
 * The k-th smallest comes to stand at its place, none greater before it: the selection of C. A. R.
 * Hoare, "Algorithm 65: find", Communications of the ACM 4 (1961).
 */
static float study_select_kth(float *values, size_t n, size_t k_th)
{
        ptrdiff_t low = 0, high = (ptrdiff_t)n - 1, k = (ptrdiff_t)k_th;

        while (low < high) {
                float pivot = values[k];
                ptrdiff_t i = low, j = high;

                do {
                        /* The pivot, or what was swapped before, ends either search:
                         * NOLINTBEGIN(clang-analyzer-core.UndefinedBinaryOperatorResult) */
                        while (values[i] < pivot)
                                i++;
                        while (pivot < values[j])
                                j--;
                        /* NOLINTEND(clang-analyzer-core.UndefinedBinaryOperatorResult) */
                        if (i <= j) {
                                float kept = values[i];

                                values[i++] = values[j];
                                values[j--] = kept;
                        }
                } while (i <= j);
                if (j < k)
                        low = i;
                if (k < i)
                        high = j;
        }
        return values[k];
}

double study_median(float *values, size_t n)
{
        float upper, lower;

        if (n == 0)
                return (double)NAN;
        upper = study_select_kth(values, n, n / 2);
        if (n % 2)
                return (double)upper;
        lower = *values;
        for (size_t i = 1; i < n / 2; i++)
                lower = fmaxf(lower, values[i]);
        return ((double)lower + (double)upper) / 2;
}

static int study_by_start(const void *a, const void *b, void *data)
{
        const struct study_chunk *chunks = data;
        double x = chunks[*(const uint32_t *)a].start_s, y = chunks[*(const uint32_t *)b].start_s;

        return x == y ? 0 : x < y ? -1 : 1;
}

/* The chunks in the order of their beginning; NULL without memory */
static uint32_t *study_ordered(struct study *study)
{
        uint32_t *order = calloc(study->n_chunks, sizeof(*order));

        for (size_t i = 0; order && i < study->n_chunks; i++)
                order[i] = (uint32_t)i;
        if (order)
                qsort_r(order, study->n_chunks, sizeof(*order), study_by_start, study->chunks);
        return order;
}

/* The lane that became free last, so that few are used; a new one if none is. Negative: no memory
 */
static int64_t study_lane_of(struct study *study, const struct study_chunk *chunk, size_t *cap)
{
        uint32_t worker = study->slots[chunk->slot].worker;
        size_t at = chunk->slot, best = SIZE_MAX;

        for (size_t n = 1;; n++) {
                const struct study_slot *slot = &study->slots[at];

                if (slot->last_s < chunk->start_s + OVERLAP_LEAST_S &&
                    (best == SIZE_MAX || slot->last_s > study->slots[best].last_s))
                        best = at;
                if (slot->next_lane == 0 && best == SIZE_MAX && n == LANES_MAX)
                        best = at;
                if (slot->next_lane == 0)
                        break;
                at = slot->next_lane;
        }
        if (best != SIZE_MAX)
                return (int64_t)best;
        if (ARRAY_ROOM(study->slots, study->n_slots, *cap) < 0)
                return ROAST_E_NOMEM;
        study->slots[at].next_lane = (uint32_t)study->n_slots;
        study->slots[study->n_slots] = (struct study_slot){ .worker = worker, .is_lane = true };
        return (int64_t)study->n_slots++;
}

/* `order` as for study_walk() */
static int study_set_lanes(struct study *study, const uint32_t *order)
{
        size_t cap = study->n_slots;

        for (size_t i = 0; i < study->n_slots; i++)
                study->slots[i].last_s = -(double)INFINITY;
        for (size_t i = 0; i < study->n_chunks; i++) {
                struct study_chunk *chunk = &study->chunks[order ? order[i] : i];
                int64_t lane;

                if (!study->slots[chunk->slot].is_lane)
                        continue;
                lane = study_lane_of(study, chunk, &cap);
                if (lane < 0)
                        return ROAST_E_NOMEM;
                chunk->slot = (uint32_t)lane;
                study->slots[lane].last_s = chunk->start_s + (double)chunk->wall_s;
        }
        return 0;
}

/* `order` may be NULL: as they are. Returns how many gaps there are. */
static size_t study_walk(struct study *study, const uint32_t *order, float *gaps)
{
        size_t n = 0;

        for (size_t i = 0; i < study->n_slots; i++)
                study->slots[i].chunks = 0;
        for (size_t i = 0; i < study->n_chunks; i++) {
                struct study_chunk *chunk = &study->chunks[order ? order[i] : i];
                struct study_slot *slot = &study->slots[chunk->slot];
                double end_s = chunk->start_s + (double)chunk->wall_s;

                chunk->order = slot->chunks;
                if (slot->chunks++ == 0) {
                        slot->first_s = chunk->start_s;
                        slot->last_s = end_s;
                } else {
                        chunk->gap_s = (float)fmax(chunk->start_s - slot->last_s, 0);
                        gaps[n++] = chunk->gap_s;
                        slot->last_s = fmax(slot->last_s, end_s);
                }
                slot->busy_s += (double)chunk->wall_s;
        }
        return n;
}

static void study_sum_up(struct study *study)
{
        double most = fmax(study->typical_gap_s * GAP_FACTOR, study->typical_gap_s + GAP_LEAST_S);

        study->first_s = study->last_s = (double)NAN;
        for (size_t i = 0; i < study->n_slots; i++) {
                study->first_s = fmin(study->first_s, study->slots[i].first_s);
                study->last_s = fmax(study->last_s, study->slots[i].last_s);
        }
        for (size_t i = 0; i < study->n_chunks; i++) {
                struct study_chunk *chunk = &study->chunks[i];
                double gap_s = (double)chunk->gap_s;

                if (isnan(gap_s))
                        continue;
                if (gap_s > most) {
                        chunk->starved_s = (float)(gap_s - study->typical_gap_s);
                        study->starved_s += (double)chunk->starved_s;
                        gap_s = study->typical_gap_s;
                }
                study->overhead_s += gap_s;
        }
}

int study_gaps(struct study *study, struct roast_run *run, struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_free) uint32_t *order = NULL;
        ROAST_CLEANUP(cleanup_free) float *values = NULL;

        (void)run;
        study->typical_gap_s = study->median_wall_s = study->first_s = study->last_s = (double)NAN;
        if (study->n_chunks == 0)
                return 0;
        values = malloc(study->n_chunks * sizeof(*values));
        if (!values || (study->unsorted && !(order = study_ordered(study))) ||
            study_set_lanes(study, order) < 0)
                return roast_fail_nomem(error);
        study->typical_gap_s = study_median(values, study_walk(study, order, values));
        for (size_t i = 0; i < study->n_chunks; i++)
                values[i] = study->chunks[i].wall_s;
        study->median_wall_s = study_median(values, study->n_chunks);
        study_sum_up(study);
        return 0;
}
