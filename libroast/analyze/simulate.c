/* A run, simulated event by event: see simulate.h. */

#include <stdlib.h>
#include <string.h>

#include "analyze/simulate.h"
#include "roast-error.h"
#include "util/size.h"

#define LEVELS_MAX 8 /* of the tree: 20^8 chunks */
#define WAYS       4 /* of the threads' heap: half as many levels as with two */

struct thread {
        double free_s;
        bool cold; /* it has had no chunk yet */
};

/* A merge that is ready, or will be */
struct merge {
        double ready_s;
        uint32_t level;
        uint32_t number;
};

/* Nodes of one level of the tree: how many inputs are still to come, when the last came */
struct node {
        uint32_t missing;
        double ready_s;
};

/* What a chunk of a dataset takes on average */
struct times {
        double fixed_s;
        double per_event_s;
};

struct state {
        const struct simulation *simulation;
        uint64_t seed;
        struct thread *threads; /* a heap, the first is free first */
        struct merge *merges;   /* a heap, the first is ready first */
        size_t n_merges;
        struct node *nodes;
        size_t levels[LEVELS_MAX + 1]; /* where those of a level begin; level 0: over chunks */
        size_t n_levels;
        struct times *times; /* of the datasets, in this simulation */
        const float *ratio;  /* what the next chunk will draw: far apart in memory, so */
        const float *gap;    /* fetched while the one before is simulated */
        double slowdown;     /* of a chunk's own time */
        double gap_slowdown;
        struct simulated *result;
};

void simulate_room_deinit(struct simulate_room *room)
{
        free(room->memory);
        *room = (struct simulate_room){ 0 };
}

/* xorshift64*: S. Vigna, "An experimental exploration of Marsaglia's xorshift generators" (2016) */
static uint64_t simulate_draw(struct state *state)
{
        state->seed ^= state->seed >> 12;
        state->seed ^= state->seed << 25;
        state->seed ^= state->seed >> 27;
        return state->seed * UINT64_C(2685821657736338717);
}

static size_t simulate_draw_below(struct state *state, size_t n)
{
        return (size_t)(((__uint128_t)simulate_draw(state) * n) >> 64);
}

static double simulate_draw_unit(struct state *state)
{
        return (double)(simulate_draw(state) >> 11) * 0x1p-53;
}

/* The child of a place that is free first. Which it is cannot be foreseen, so that counting is
 * quicker than jumping. */
static size_t simulate_first_free(const struct thread *threads, size_t first, size_t n)
{
        size_t child = first, other;

        if (first + WAYS <= n) {
                child += threads[first + 1].free_s < threads[first].free_s;
                other = first + 2 + (threads[first + 3].free_s < threads[first + 2].free_s);
                return child + (other - child) * (threads[other].free_s < threads[child].free_s);
        }
        for (size_t i = first + 1; i < n; i++)
                if (threads[i].free_s < threads[child].free_s)
                        child = i;
        return child;
}

/* The thread at a place of the heap has a new time: it sinks to where it belongs. */
static void simulate_settle_thread(struct thread *threads, size_t n, size_t at)
{
        struct thread thread = threads[at];

        for (size_t first = WAYS * at + 1; first < n; first = WAYS * at + 1) {
                size_t child = simulate_first_free(threads, first, n);

                if (threads[child].free_s >= thread.free_s)
                        break;
                threads[at] = threads[child];
                at = child;
        }
        threads[at] = thread;
}

static void simulate_push_merge(struct state *state, struct merge merge)
{
        size_t at = state->n_merges++;

        while (at > 0 && state->merges[(at - 1) / 2].ready_s > merge.ready_s) {
                state->merges[at] = state->merges[(at - 1) / 2];
                at = (at - 1) / 2;
        }
        state->merges[at] = merge;
}

static struct merge simulate_pop_merge(struct state *state)
{
        struct merge first = state->merges[0], last = state->merges[--state->n_merges];
        size_t at = 0, n = state->n_merges;

        for (;;) {
                size_t child = 2 * at + 1;

                if (child >= n)
                        break;
                if (child + 1 < n &&
                    state->merges[child + 1].ready_s < state->merges[child].ready_s)
                        child++;
                if (state->merges[child].ready_s >= last.ready_s)
                        break;
                state->merges[at] = state->merges[child];
                at = child;
        }
        state->merges[at] = last;
        return first;
}

/* An output of level (0: of a chunk) is there: the node above waits for one less. */
static void simulate_deliver(struct state *state, size_t level, size_t number, double time_s)
{
        struct node *node;

        if (level >= state->n_levels)
                return;
        node = &state->nodes[state->levels[level] + number / MODEL_TREE];
        if (time_s > node->ready_s)
                node->ready_s = time_s;
        if (--node->missing == 0)
                simulate_push_merge(state, (struct merge){ node->ready_s, (uint32_t)level,
                                                           (uint32_t)(number / MODEL_TREE) });
}

static size_t simulate_inputs_of(const struct state *state, size_t level, size_t number)
{
        size_t below = level ? state->levels[level] - state->levels[level - 1]
                             : state->simulation->n_chunks;
        size_t left = below - number * MODEL_TREE;

        return left < MODEL_TREE ? left : MODEL_TREE;
}

static void simulate_draw_gap(struct state *state)
{
        const struct model *model = state->simulation->model;

        if (!model->n_gaps)
                return;
        state->gap = &model->gaps[simulate_draw_below(state, model->n_gaps)];
        __builtin_prefetch(state->gap);
}

static void simulate_draw_chunk(struct state *state, const struct model_chunk *chunk)
{
        const struct model *model = state->simulation->model;
        const struct model_dataset *dataset = &model->datasets[chunk->dataset];

        state->ratio = &model->ratios[dataset->first + simulate_draw_below(state, dataset->n)];
        __builtin_prefetch(state->ratio);
        simulate_draw_gap(state);
}

/* How long a thread is busy with a chunk, failed attempts included */
static double simulate_chunk_s(struct state *state, const struct model_chunk *chunk, bool cold)
{
        const struct model *model = state->simulation->model;
        const struct times *times = &state->times[chunk->dataset];
        double own_s =
                (times->fixed_s + times->per_event_s * chunk->events) * (double)*state->ratio;
        double busy_s, all_s = 0;

        own_s = (own_s + (cold ? model->cold_s : 0)) * state->slowdown;
        for (int attempt = 0;; attempt++) {
                busy_s = own_s;
                if (!cold && state->gap)
                        busy_s += (double)*state->gap * state->gap_slowdown;
                if (!(state->simulation->fail_rate > 0) ||
                    simulate_draw_unit(state) >= state->simulation->fail_rate)
                        return all_s + busy_s;
                all_s += busy_s * simulate_draw_unit(state);
                if (attempt == MODEL_RETRIES) {
                        state->result->exhausted++;
                        return all_s;
                }
                simulate_draw_gap(state);
        }
}

/* The mean of as many draws as there are ratios: how well the run knows it */
static void simulate_draw_times(struct state *state)
{
        const struct model *model = state->simulation->model;
        double fixed_s = model_fixed(model, state->simulation->doubt.fixed);

        for (size_t i = 0; i < model->n_datasets; i++) {
                const struct model_dataset *dataset = &model->datasets[i];
                size_t n = dataset->n < 1000 ? dataset->n : 1000;
                double sum = 0, factor;

                for (size_t k = 0; k < n; k++)
                        sum += (double)model->ratios[dataset->first +
                                                     simulate_draw_below(state, dataset->n)];
                factor = dataset->mean > 0 ? sum / (double)n / dataset->mean : 1;
                state->times[i] = (struct times){ fixed_s * factor,
                                                  model_per_event(dataset, fixed_s) * factor };
        }
}

static void simulate_begin_threads(struct state *state)
{
        const struct simulation *simulation = state->simulation;
        const struct model *model = simulation->model;
        double threads = (double)simulation->threads;
        double begin_s = model->begin_s - model->ahead_s / fmin(model->threads, model->files) +
                         model->ahead_s / fmin(threads, model->files);

        for (size_t i = 0; i < simulation->threads; i++) {
                double arrival_s = 0;

                if (i > 0 && model->n_arrivals)
                        arrival_s =
                                (double)model
                                        ->arrivals[simulate_draw_below(state, model->n_arrivals)];
                state->threads[i] = (struct thread){ begin_s + arrival_s, true };
        }
        for (size_t i = simulation->threads / WAYS + 1; i-- > 0;)
                simulate_settle_thread(state->threads, simulation->threads, i);
}

static void simulate_run(struct state *state)
{
        const struct simulation *simulation = state->simulation;
        struct simulated *result = state->result;
        size_t next = 0;
        double last_chunk_s = 0, last_s = 0, idle_from_s = -1;

        if (simulation->n_chunks)
                simulate_draw_chunk(state, &simulation->chunks[0]);
        while (next < simulation->n_chunks || state->n_merges) {
                struct thread *thread = &state->threads[0];
                double start_s = thread->free_s, busy_s;

                if (state->n_merges &&
                    (state->merges[0].ready_s <= start_s || next == simulation->n_chunks)) {
                        struct merge merge = simulate_pop_merge(state);

                        if (next == simulation->n_chunks && idle_from_s < 0)
                                idle_from_s = start_s;
                        start_s = fmax(start_s, merge.ready_s);
                        busy_s = simulation->model->merge_s *
                                 (double)simulate_inputs_of(state, merge.level, merge.number);
                        thread->free_s = start_s + busy_s;
                        last_s = fmax(last_s, thread->free_s);
                        simulate_deliver(state, merge.level + 1, merge.number, thread->free_s);
                } else {
                        busy_s = simulate_chunk_s(state, &simulation->chunks[next], thread->cold);
                        thread->cold = false;
                        thread->free_s = start_s + busy_s;
                        last_chunk_s = fmax(last_chunk_s, thread->free_s);
                        simulate_deliver(state, 0, next++, thread->free_s);
                        if (next < simulation->n_chunks)
                                simulate_draw_chunk(state, &simulation->chunks[next]);
                }
                result->busy_s += busy_s;
                simulate_settle_thread(state->threads, simulation->threads, 0);
                if (next == simulation->n_chunks && idle_from_s < 0)
                        idle_from_s = state->threads[0].free_s;
        }
        result->tail_s = fmax(last_chunk_s - idle_from_s, 0);
        result->merged_s = fmax(last_s - last_chunk_s, 0);
        result->makespan_s = fmax(last_s, last_chunk_s) + simulation->model->after_s;
}

/* The tree: how many nodes each level has, and how many inputs each node */
static void simulate_plant(struct state *state)
{
        size_t n = state->simulation->n_chunks, at = 0;

        while (n > 1 && state->n_levels < LEVELS_MAX) {
                state->levels[state->n_levels++] = at;
                n = (n + MODEL_TREE - 1) / MODEL_TREE;
                at += n;
        }
        state->levels[state->n_levels] = at;
        for (size_t level = 0; level < state->n_levels; level++)
                for (size_t i = state->levels[level]; i < state->levels[level + 1]; i++)
                        state->nodes[i] =
                                (struct node){ (uint32_t)simulate_inputs_of(
                                                       state, level, i - state->levels[level]),
                                               0 };
}

/* One piece of memory for all of it */
static int simulate_make_room(struct state *state, struct simulate_room *room)
{
        const struct simulation *simulation = state->simulation;
        size_t n_nodes = simulation->n_chunks / (MODEL_TREE - 1) + LEVELS_MAX + 1;
        size_t size = simulation->threads * sizeof(struct thread) +
                      n_nodes * (sizeof(struct node) + sizeof(struct merge)) +
                      simulation->model->n_datasets * sizeof(struct times);

        if (size > room->size) {
                void *grown = realloc(room->memory, size);

                if (!grown)
                        return ROAST_E_NOMEM;
                room->memory = grown;
                room->size = size;
        }
        state->threads = room->memory;
        state->nodes = (struct node *)(state->threads + simulation->threads);
        state->merges = (struct merge *)(state->nodes + n_nodes);
        state->times = (struct times *)(state->merges + n_nodes);
        return 0;
}

int simulate(struct simulated *ret, const struct simulation *simulation, struct simulate_room *room,
             uint64_t seed)
{
        const struct model *model = simulation->model;
        double now = model_slowdown(model, (double)simulation->threads, simulation->doubt.sharing);
        struct state state = { .simulation = simulation,
                               .seed = seed * UINT64_C(0x9e3779b97f4a7c15) + 1,
                               .slowdown = 1 + model->cpu_share * (now - 1),
                               .gap_slowdown = (1 + model->gap_share * (now - 1)) /
                                               (1 + model->gap_share * (model->slowdown - 1)),
                               .result = ret };

        *ret = (struct simulated){ 0 };
        if (simulate_make_room(&state, room) < 0)
                return ROAST_E_NOMEM;
        simulate_draw_times(&state);
        simulate_plant(&state);
        simulate_begin_threads(&state);
        simulate_run(&state);
        return 0;
}
