/*
 * The sampler: see sampler.h
 *
 * Ticks stand on a grid that begins at the start, so that they do not drift; one
 * that is missed (a suspended machine, a stopped process) is not made up for.
 */

#include <stdlib.h>
#include <string.h>

#include "probe/sampler.h"
#include "probe/ticker.h"
#include "roast-error.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/size.h"

#define SAMPLER_INTERVAL_S 1.0
#define SAMPLER_CAPACITY   1024

struct sampler {
        struct ticker ticker;
        size_t n_columns;
        size_t capacity;
        /* under ticker.lock: */
        int64_t interval_ns;
        size_t first; /* oldest row */
        size_t count;
        struct sampler_state state;
        int64_t last_ns; /* of the newest row */
        int64_t *ring;
        /* of the sampler's thread alone: */
        int64_t *row;
        int64_t next_ns; /* when the next tick is due; 0: at the start */
};

static bool sampler_interval_valid(double interval_s)
{
        return interval_s >= SAMPLER_INTERVAL_MIN_S && interval_s <= SAMPLER_INTERVAL_MAX_S;
}

static int64_t sampler_ns(double interval_s)
{
        return (int64_t)(interval_s * 1e9);
}

/* Under the lock. */
static void sampler_push(struct sampler *sampler, const int64_t *row)
{
        size_t at = (sampler->first + sampler->count) % sampler->capacity;

        if (row[0] < 0) /* nobody could tell when that was */
                sampler->state.missed++;
        if (row[0] < sampler->last_ns) /* or one that was read later has come before it */
                return;
        sampler->last_ns = row[0];
        memcpy(sampler->ring + at * sampler->n_columns, row, sampler->n_columns * sizeof(*row));
        sampler->state.rows++;
        if (sampler->count < sampler->capacity) {
                sampler->count++;
        } else {
                sampler->first = (sampler->first + 1) % sampler->capacity;
                sampler->state.dropped++;
        }
}

/* Under the lock: the time to the next tick. The grid stays where it is if the clock is not known.
 */
static int64_t sampler_delay(struct sampler *sampler, int64_t now_ns)
{
        int64_t interval_ns = sampler->interval_ns, late_ns;

        if (now_ns < 0)
                return interval_ns;
        if (!sampler->next_ns)
                sampler->next_ns = now_ns;
        sampler->next_ns += interval_ns;
        late_ns = now_ns - sampler->next_ns;
        if (late_ns >= 0) {
                sampler->state.missed += (uint64_t)(late_ns / interval_ns) + 1;
                sampler->next_ns += (late_ns / interval_ns + 1) * interval_ns;
        }
        return sampler->next_ns - now_ns;
}

static int64_t sampler_tick(struct ticker *ticker)
{
        struct sampler *sampler = (struct sampler *)ticker;
        int64_t delay_ns;

        probe_row_read(sampler->row);
        pthread_mutex_lock(&ticker->lock);
        sampler_push(sampler, sampler->row);
        delay_ns = sampler_delay(sampler, clock_monotonic_ns());
        pthread_mutex_unlock(&ticker->lock);
        return delay_ns;
}

int sampler_read(struct sampler *sampler)
{
        ROAST_CLEANUP(cleanup_free) int64_t *row = malloc(sampler->n_columns * sizeof(*row));

        if (!row)
                return ROAST_E_NOMEM;
        probe_row_read(row);
        pthread_mutex_lock(&sampler->ticker.lock);
        sampler_push(sampler, row);
        pthread_mutex_unlock(&sampler->ticker.lock);
        return 0;
}

static void sampler_ended(struct ticker *ticker)
{
        ((struct sampler *)ticker)->next_ns = 0;
}

static void sampler_forked(struct ticker *ticker)
{
        struct sampler *sampler = (struct sampler *)ticker;

        sampler->first = sampler->count = 0;
        sampler->state = (struct sampler_state){ 0 };
        sampler->next_ns = 0;
}

static const struct ticker_calls sampler_calls = {
        .name = "roast-sampler",
        .tick = sampler_tick,
        .ended = sampler_ended,
        .forked = sampler_forked,
};

int sampler_new(struct sampler **ret, const struct sampler_options *options)
{
        static const struct sampler_options none;
        double interval_s;
        size_t capacity, values;
        struct sampler *sampler;

        if (!options)
                options = &none;
        interval_s = options->interval_s == 0 ? SAMPLER_INTERVAL_S : options->interval_s;
        capacity = options->capacity_rows ? options->capacity_rows : SAMPLER_CAPACITY;
        if (!sampler_interval_valid(interval_s) || !size_mul(capacity, N_SAMPLES, &values))
                return ROAST_E_INVALID;
        sampler = calloc(1, sizeof(*sampler));
        if (!sampler)
                return ROAST_E_NOMEM;
        sampler->n_columns = N_SAMPLES;
        sampler->capacity = capacity;
        sampler->interval_ns = sampler_ns(interval_s);
        sampler->ring = calloc(values, sizeof(*sampler->ring));
        sampler->row = calloc(sampler->n_columns, sizeof(*sampler->row));
        if (!sampler->ring || !sampler->row || ticker_init(&sampler->ticker, &sampler_calls) < 0) {
                free(sampler->ring);
                free(sampler->row);
                free(sampler);
                return ROAST_E_NOMEM;
        }
        *ret = sampler;
        return 0;
}

struct sampler *sampler_free(struct sampler *sampler)
{
        if (!sampler)
                return NULL;
        ticker_deinit(&sampler->ticker);
        free(sampler->ring);
        free(sampler->row);
        free(sampler);
        return NULL;
}

void sampler_freep(struct sampler **sampler)
{
        *sampler = sampler_free(*sampler);
}

int sampler_start(struct sampler *sampler)
{
        return ticker_start(&sampler->ticker);
}

void sampler_stop(struct sampler *sampler)
{
        ticker_stop(&sampler->ticker);
}

int sampler_set_interval(struct sampler *sampler, double interval_s)
{
        if (!sampler_interval_valid(interval_s))
                return ROAST_E_INVALID;
        pthread_mutex_lock(&sampler->ticker.lock);
        sampler->interval_ns = sampler_ns(interval_s);
        pthread_mutex_unlock(&sampler->ticker.lock);
        return 0;
}

size_t sampler_take(struct sampler *sampler, int64_t *rows, size_t max_rows)
{
        size_t n, head, width = sampler->n_columns;

        pthread_mutex_lock(&sampler->ticker.lock);
        n = sampler->count < max_rows ? sampler->count : max_rows;
        head = sampler->capacity - sampler->first;
        if (head > n)
                head = n;
        if (n) {
                memcpy(rows, sampler->ring + sampler->first * width, head * width * sizeof(*rows));
                memcpy(rows + head * width, sampler->ring, (n - head) * width * sizeof(*rows));
        }
        sampler->first = (sampler->first + n) % sampler->capacity;
        sampler->count -= n;
        pthread_mutex_unlock(&sampler->ticker.lock);
        return n;
}

void sampler_state(struct sampler *sampler, struct sampler_state *state)
{
        pthread_mutex_lock(&sampler->ticker.lock);
        *state = sampler->state;
        state->runs = sampler->ticker.runs;
        pthread_mutex_unlock(&sampler->ticker.lock);
        state->cpu_ns = sampler_cpu_ns(sampler);
}

int64_t sampler_cpu_ns(struct sampler *sampler)
{
        return ticker_cpu_ns(&sampler->ticker);
}
