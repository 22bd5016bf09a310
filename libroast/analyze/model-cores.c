/*
 * How threads share the cores of a host
 *
 * A thread that wants a core waits while more threads want one than there are.
 * Other programs want K of them at a moment, a Poisson number: with t threads
 * on c cores CPU time passes slower by the mean of max(1, (t + K) / c). The mean
 * of K is what makes that the slowdown which was measured.
 *
 * That holds where the kernel divides cores among threads, and the others are
 * of other programs. Where it divides them among groups of threads (containers,
 * batch slots, sessions), a run gets the share of its group however many threads
 * it has: the slowdown is proportional to them. And where the others are the
 * workers' own, such as the threads that read files for the one in process(),
 * chunks wait for them as they did, however many workers there are. A run does
 * not tell which it is; simulations take all between.
 */

#include <string.h>

#include "analyze/model.h"

/* Slower than this is called contention, and not noise. */
#define SLOWDOWN_LEAST 1.02
#define OTHERS_MOST    10000.0

/* The mean of max(1, (threads + K) / cores) over a Poisson K */
static double model_crowding(double threads, double cores, double others)
{
        double room = cores - threads, chance = exp(-others), excess = 0;

        if (room <= 0 || others > 30)
                return fmax((threads + others) / cores, 1);
        /* E (K - room)+ = others - room + sum over k < room of (room - k) P(k), as far as P(k) is a
         * number: a damaged file may tell of any number of cores */
        excess = others - room;
        for (int k = 0; k < room && chance > 0; k++) {
                excess += (room - k) * chance;
                chance *= others / (k + 1);
        }
        return 1 + fmax(excess, 0) / cores;
}

/* The others that make threads as slow as they were */
static double model_others_for(double slowdown, double threads, double cores)
{
        double low = 0, high = OTHERS_MOST;

        for (int i = 0; i < 60; i++) {
                double middle = (low + high) / 2;

                if (model_crowding(threads, cores, middle) < slowdown)
                        low = middle;
                else
                        high = middle;
        }
        return low;
}

/* The one host of all chunks that is also the client's: its cores are known, and shared. */
static bool model_on_client_host(const struct study *study)
{
        uint32_t host = study->chunks[0].host;
        size_t len;
        const char *name = study_text(study, host, &len);

        if (!name || len != strlen(study->client_host) || memcmp(name, study->client_host, len))
                return false;
        for (size_t i = 1; i < study->n_chunks; i++)
                if (study->chunks[i].host != host)
                        return false;
        return true;
}

/* Of the time between chunks, what a thread spends on tasks needs a core as chunks do; the rest is
 * waiting for the next one. Where no span tells, all of it is taken to. */
static double model_gap_share(const struct model *model, const struct study *study)
{
        double gaps_s = study->overhead_s + study->starved_s + study->tasked_s;
        double task_s = study->spans.processor_s - study->wall_s;

        if (!(gaps_s > 0) || !(study->spans.processor_s > 0))
                return 1;
        return model->cpu_share * fmin(fmax(task_s / gaps_s, 0), 1);
}

void model_add_cores(struct model *model, const struct study *study)
{
        double own_s = 0, cpu_s = 0, queue_s = 0;

        model->slowdown = 1;
        for (size_t i = 0; i < study->n_chunks; i++) {
                const struct study_chunk *chunk = &study->chunks[i];

                if (isnan(chunk->cpu_s) || isnan(chunk->queue_s))
                        continue;
                own_s += study_own_s(chunk);
                cpu_s += (double)chunk->cpu_s;
                queue_s += (double)chunk->queue_s;
        }
        model->cpu_share = own_s > 0 ? cpu_s / own_s : 1;
        if (cpu_s > 0)
                model->slowdown = (cpu_s + queue_s) / cpu_s;
        model->gap_share = model_gap_share(model, study);
        if (study->cpus > 0 && model_on_client_host(study))
                model->cores = study->cpus;
        if (model->cores > 0 && model->slowdown > SLOWDOWN_LEAST)
                model->others = model_others_for(model->slowdown, model->threads, model->cores);
}

double model_slowdown(const struct model *model, double threads, double sharing)
{
        double by_thread, by_program, by_worker, least, most;

        if (!(model->cores > 0))
                return model->slowdown;
        /* beyond the cores of the host, further workers bring cores of their own */
        threads = fmin(threads, fmax(model->cores, model->threads));
        by_thread = model_crowding(threads, model->cores, model->others);
        if (!(model->others > 0)) /* nobody else is there to share with */
                return by_thread;
        by_program = fmax(model->slowdown * threads / model->threads, 1);
        by_worker = fmax(model->slowdown * model_crowding(threads, model->cores, 0) /
                                 model_crowding(model->threads, model->cores, 0),
                         1);
        least = fmin(by_worker, fmin(by_thread, by_program));
        most = fmax(by_worker, fmax(by_thread, by_program));
        return least + sharing * (most - least);
}
