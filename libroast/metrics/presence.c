/* Workers and their cores over time: see presence.h. */

#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "metrics/presence.h"
#include "metrics/stat.h"
#include "roast-error.h"
#include "util/array.h"
#include "util/cleanup.h"

/* An instant: what was sampled there, and what changes of the workers between their samples */
struct tick {
        double time;
        double cores;
        int64_t workers;
        double bridged_cores; /* difference to the tick before */
        int64_t bridged_workers;
        double count; /* of workers; NaN: not known */
};

/* The last sample of a worker */
struct last {
        size_t tick; /* + 1; 0: none yet */
        double cores;
};

void presence_deinit(struct presence *presence)
{
        free(presence->marks);
        *presence = (struct presence){ 0 };
}

int presence_add(struct presence *presence, double time, int64_t worker, double value)
{
        if (!isfinite(time) || !isfinite(value))
                return 0;
        if (ARRAY_ROOM(presence->marks, presence->n, presence->cap) < 0)
                return ROAST_E_NOMEM;
        presence->marks[presence->n] = (struct presence_mark){ time, worker, value, presence->n };
        presence->n++;
        return 0;
}

static int presence_by_time(const void *a, const void *b)
{
        const struct presence_mark *x = a, *y = b;

        if (x->time != y->time)
                return x->time < y->time ? -1 : 1;
        if (x->worker != y->worker)
                return x->worker < y->worker ? -1 : 1;
        return x->order < y->order ? -1 : 1;
}

/* A sample of a worker at ticks[now]; the ticks since its last one are bridged. */
static void presence_place(struct tick *ticks, size_t now, struct last *last, double cores)
{
        struct tick *tick = &ticks[now];

        if (last->tick == now + 1) {
                tick->cores -= last->cores;
                tick->workers--;
        } else if (last->tick && last->tick < now) {
                ticks[last->tick].bridged_cores += last->cores;
                ticks[last->tick].bridged_workers++;
                tick->bridged_cores -= last->cores;
                tick->bridged_workers--;
        }
        tick->cores += cores;
        tick->workers++;
        *last = (struct last){ now + 1, cores };
}

/* Instants count if a worker has a sample there, or if it is known that there was none. */
static size_t presence_make_ticks(struct tick *ticks, struct last *lasts,
                                  const struct presence *presence)
{
        size_t n = 0;

        for (size_t i = 0; i < presence->n; i++) {
                const struct presence_mark *mark = &presence->marks[i];
                bool fresh = n == 0 || ticks[n - 1].time != mark->time;

                if (fresh)
                        ticks[n++] = (struct tick){ .time = mark->time, .count = (double)NAN };
                if (mark->worker == PRESENCE_COUNT)
                        ticks[n - 1].count = mark->value;
                else
                        presence_place(ticks, n - 1, &lasts[mark->worker], mark->value);
        }
        return n;
}

static int presence_average_ticks(const struct tick *ticks, size_t n, double *cores,
                                  double *workers)
{
        struct stat_average all_cores = { 0 }, all_workers = { 0 };
        double bridged_cores = 0;
        int64_t bridged_workers = 0;
        bool any = false;

        for (size_t i = 0; i < n; i++) {
                const struct tick *tick = &ticks[i];
                bool accounted = tick->count <= (double)tick->workers;

                bridged_cores += tick->bridged_cores;
                bridged_workers += tick->bridged_workers;
                if (bridged_workers == 0)
                        bridged_cores = 0; /* not what rounding left */
                if (tick->workers == 0 && !(tick->count <= 0))
                        continue;
                any |= tick->workers > 0;
                stat_average_add(&all_cores, tick->time,
                                 tick->cores + (accounted ? 0 : bridged_cores));
                stat_average_add(&all_workers, tick->time,
                                 (double)tick->workers + (accounted ? 0 : (double)bridged_workers));
        }
        *cores = stat_average_mean(&all_cores);
        *workers = stat_average_mean(&all_workers);
        if (!any)
                return 0;
        return all_cores.n > INT_MAX ? INT_MAX : (int)all_cores.n;
}

int presence_average(struct presence *presence, double *cores, double *workers)
{
        ROAST_CLEANUP(cleanup_free) struct tick *ticks = NULL;
        ROAST_CLEANUP(cleanup_free) struct last *lasts = NULL;
        int64_t last_worker = 0;

        *cores = *workers = 0;
        if (presence->n == 0)
                return 0;
        for (size_t i = 0; i < presence->n; i++)
                if (presence->marks[i].worker > last_worker)
                        last_worker = presence->marks[i].worker;
        ticks = calloc(presence->n, sizeof(*ticks));
        lasts = calloc((size_t)last_worker + 1, sizeof(*lasts));
        if (!ticks || !lasts)
                return ROAST_E_NOMEM;
        qsort(presence->marks, presence->n, sizeof(*presence->marks), presence_by_time);
        return presence_average_ticks(ticks, presence_make_ticks(ticks, lasts, presence), cores,
                                      workers);
}
