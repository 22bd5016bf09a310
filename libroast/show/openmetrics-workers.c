/* The workers of a run as OpenMetrics: their sums, and each of them */

#include <math.h>

#include "metrics/stat.h"
#include "show/openmetrics.h"
#include "util/size.h"

static void openmetrics_put_worker_sums(struct exposition *e,
                                        const struct roast_worker_now *workers, size_t n)
{
        int64_t here = 0, threads = 0, rss = 0, n_rss = 0;
        double fullest = -1;

        for (size_t i = 0; i < n; i++) {
                if (!workers[i].here)
                        continue;
                here++;
                threads = stat_sum_int(threads, workers[i].threads > 0 ? workers[i].threads : 0);
                if (workers[i].rss_bytes < 0)
                        continue;
                n_rss++;
                rss = stat_sum_int(rss, workers[i].rss_bytes);
                if (workers[i].memory_limit_bytes > 0)
                        fullest = fmax(fullest, (double)workers[i].rss_bytes /
                                                        (double)workers[i].memory_limit_bytes);
        }
        exposition_family(e, "workers", "gauge", NULL);
        exposition_help(e, "Workers that are here now");
        exposition_sample(e);
        exposition_int(e, here);
        exposition_family(e, "cores", "gauge", NULL);
        exposition_help(e, "Threads of the workers that are here now");
        exposition_sample(e);
        exposition_int(e, threads);
        if (n_rss) {
                exposition_family(e, "memory_bytes", "gauge", "bytes");
                exposition_help(
                        e, "Resident memory of the workers that are here, by their last samples");
                exposition_sample(e);
                exposition_int(e, rss);
        }
        if (fullest >= 0) {
                exposition_family(e, "memory_utilization_max_ratio", "gauge", "ratio");
                exposition_help(
                        e, "Resident memory over its limit, of the worker that is nearest to it");
                exposition_sample(e);
                exposition_real(e, fullest);
        }
}

static int64_t openmetrics_figure_of(const struct roast_worker_now *worker, int figure)
{
        return figure == 0   ? worker->here
               : figure == 1 ? worker->threads
               : figure == 2 ? worker->rss_bytes
                             : worker->memory_limit_bytes;
}

static void openmetrics_put_each_worker(struct exposition *e,
                                        const struct roast_worker_now *workers, size_t n)
{
        static const struct {
                const char *name;
                const char *unit;
                const char *help;
        } figures[] = {
                { "worker_up", NULL, "1 while the worker is here" },
                { "worker_cores", NULL, "Threads of the worker" },
                { "worker_memory_bytes", "bytes", "Resident memory, by the last sample" },
                { "worker_memory_limit_bytes", "bytes", "What the worker may take" },
        };

        for (int i = 0; i < (int)ROAST_ARRAY_SIZE(figures); i++) {
                exposition_family(e, figures[i].name, "gauge", figures[i].unit);
                exposition_help(e, figures[i].help);
                for (size_t j = 0; j < n; j++) {
                        int64_t value = openmetrics_figure_of(&workers[j], i);

                        if (value < 0)
                                continue;
                        exposition_sample(e);
                        exposition_label(e, "{", "worker", workers[j].name);
                        exposition_put(e, "}", 1);
                        exposition_int(e, value);
                }
        }
}

void openmetrics_workers(struct exposition *e, const struct roast_workers *workers, bool each)
{
        size_t n;
        const struct roast_worker_now *all = roast_workers_all(workers, &n);

        openmetrics_put_worker_sums(e, all, n);
        if (each)
                openmetrics_put_each_worker(e, all, n);
}
