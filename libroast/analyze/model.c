/* What a run says about another one: see model.h. */

#include <stdlib.h>
#include <string.h>

#include "analyze/model.h"
#include "util/cleanup.h"

void model_deinit(struct model *model)
{
        free(model->datasets);
        free(model->ratios);
        free(model->chunks);
        free(model->gaps);
        free(model->arrivals);
        *model = (struct model){ 0 };
}

/* The number of the name of a chunk's dataset; the last for none */
static size_t model_dataset_of(const struct study *study, size_t chunk)
{
        uint32_t dataset = study->chunks[chunk].dataset;

        return dataset == STUDY_NONE ? study->texts.n : dataset;
}

/* Datasets get numbers of their own: `of` is by the number of the name, the last for none. */
static int model_number_datasets(struct model *model, const struct study *study, uint32_t *of)
{
        ROAST_CLEANUP(cleanup_free) size_t *counts = calloc(study->texts.n + 1, sizeof(*counts));
        size_t at = 0;

        if (!counts)
                return ROAST_E_NOMEM;
        for (size_t i = 0; i < study->n_chunks; i++)
                counts[model_dataset_of(study, i)]++;
        for (size_t i = 0; i <= study->texts.n; i++)
                model->n_datasets += counts[i] > 0;
        model->datasets = calloc(model->n_datasets + 1, sizeof(*model->datasets));
        if (!model->datasets)
                return ROAST_E_NOMEM;
        for (size_t i = 0, k = 0; i <= study->texts.n; i++) {
                if (!counts[i])
                        continue;
                model->datasets[k] = (struct model_dataset){ .chunks = counts[i], .first = at };
                at += counts[i];
                of[i] = (uint32_t)k++;
        }
        return 0;
}

static int model_add_chunks(struct model *model, const struct study *study, const uint32_t *of)
{
        model->chunks = malloc((study->n_chunks + 1) * sizeof(*model->chunks));
        if (!model->chunks)
                return ROAST_E_NOMEM;
        for (size_t i = 0; i < study->n_chunks; i++) {
                uint32_t events = study->chunks[i].events;

                model->chunks[model->n_chunks++] =
                        (struct model_chunk){ of[model_dataset_of(study, i)], events };
                model->most_events = fmax(model->most_events, events);
        }
        return 0;
}

static void model_average_ratios(struct model *model)
{
        for (size_t i = 0; i < model->n_datasets; i++) {
                struct model_dataset *dataset = &model->datasets[i];

                for (size_t k = 0; k < dataset->n; k++)
                        dataset->mean +=
                                (double)model->ratios[dataset->first + k] / (double)dataset->n;
                if (dataset->n == 0) { /* only first chunks: as expected */
                        model->ratios[dataset->first] = 1;
                        dataset->n = 1;
                        dataset->mean = 1;
                }
        }
}

/* What chunks took as a ratio of the expected; first chunks of a thread tell how cold it was. */
static int model_add_ratios(struct model *model, const struct study *study)
{
        ROAST_CLEANUP(cleanup_free) float *colds = malloc((study->n_slots + 1) * sizeof(*colds));
        size_t n_colds = 0;

        model->ratios = malloc((study->n_chunks + 1) * sizeof(*model->ratios));
        model->gaps = malloc((study->n_chunks + 1) * sizeof(*model->gaps));
        if (!colds || !model->ratios || !model->gaps)
                return ROAST_E_NOMEM;
        for (size_t i = 0; i < study->n_chunks; i++) {
                const struct study_chunk *chunk = &study->chunks[i];
                struct model_dataset *dataset = &model->datasets[model->chunks[i].dataset];
                double own_s = study_own_s(chunk);
                double expected_s = model_expected(dataset, model->fixed_s, chunk->events);

                if (!isnan(chunk->gap_s))
                        model->gaps[model->n_gaps++] = chunk->gap_s;
                if (model_is_cold(study, chunk))
                        colds[n_colds++] = (float)(own_s - expected_s);
                else
                        model->ratios[dataset->first + dataset->n++] =
                                expected_s > 0 ? (float)(own_s / expected_s) : 1;
        }
        if (n_colds)
                model->cold_s = fmax(study_median(colds, n_colds), 0);
        model_average_ratios(model);
        return 0;
}

/* Inputs of all merges of a tree over n outputs */
static double model_tree_inputs(double n)
{
        double inputs = 0;

        while (n > 1) {
                inputs += n;
                n = ceil(n / MODEL_TREE);
        }
        return inputs;
}

static void model_add_rest(struct model *model, const struct study *study)
{
        double n = (double)study->n_chunks, inputs = model_tree_inputs(n);
        uint32_t last = STUDY_NONE;

        for (size_t i = 0; i < study->texts.n; i++) {
                const struct study_worker *worker = &study->workers[i];

                if (!worker->known)
                        continue;
                model->threads_each = fmax(model->threads_each, worker->threads);
                model->peak_bytes = fmax(model->peak_bytes, worker->peak_bytes);
                model->limit_bytes = fmax(model->limit_bytes, worker->limit_bytes);
        }
        model->threads_each = fmax(model->threads_each, 1);
        for (size_t i = 0; i < study->n_chunks; i++) {
                const struct study_chunk *chunk = &study->chunks[i];

                model->files += chunk->file != last && chunk->entry_start == 0;
                last = chunk->file;
                if (!isnan(chunk->rss_growth_bytes))
                        model->growth_bytes =
                                fmax(model->growth_bytes, (double)chunk->rss_growth_bytes);
        }
        model->files = fmax(model->files, 1);
        model->begin_s = fmax(study->first_s, 0);
        model->ahead_s =
                fmin(study->spans.other_s, model->begin_s * fmin(model->threads, model->files));
        model->after_s = fmax(study->elapsed_s - study->last_s, 0);
        model->merge_s = inputs > 0 ? study->spans.reduce_s / inputs : 0;
        if (study->waste.attempts > 0)
                model->fail_rate =
                        (double)(study->waste.failed + study->waste.lost) / study->waste.attempts;
}

int model_make(struct model *model, const struct study *study, struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_free) uint32_t *of = NULL;

        *model = (struct model){ 0 };
        if (study->n_chunks == 0)
                return roast_fail(error, ROAST_E_STATE,
                                  "no chunk of the run finished and tells when it ran");
        of = calloc(study->texts.n + 1, sizeof(*of));
        if (!of || model_number_datasets(model, study, of) < 0 ||
            model_add_chunks(model, study, of) < 0 || model_add_workers(model, study) < 0 ||
            model_fit(model, study) < 0 || model_add_ratios(model, study) < 0) {
                model_deinit(model);
                return roast_fail_nomem(error);
        }
        model_add_cores(model, study);
        model_add_rest(model, study);
        return 0;
}

/* A file, as far as its chunks tell */
struct file {
        uint32_t dataset;
        uint64_t entries;
        bool known;
};

struct cutter {
        int64_t chunksize;
        struct model_chunk *chunks; /* NULL: they are only counted */
        size_t n;
};

static void model_cut(struct cutter *cutter, uint32_t dataset, uint64_t entries)
{
        double n = nearbyint((double)entries / (double)cutter->chunksize);
        uint64_t each, count;

        n = fmax(n, ceil((double)entries / UINT32_MAX)); /* what a chunk can have */
        each = (uint64_t)ceil((double)entries / fmax(n, 1));
        count = each ? (entries + each - 1) / each : 1;
        for (uint64_t i = 0; cutter->chunks && i < count; i++) {
                uint64_t events = entries < each ? entries : each;

                cutter->chunks[cutter->n + i] = (struct model_chunk){ dataset, (uint32_t)events };
                entries -= events;
        }
        cutter->n += count;
}

/* Chunks without a file could be of any: each is cut by itself. */
static void model_cut_all(struct cutter *cutter, const struct model *model,
                          const struct study *study, const struct file *files)
{
        cutter->n = 0;
        for (size_t i = 0; i < study->texts.n; i++)
                if (files[i].known)
                        model_cut(cutter, files[i].dataset, files[i].entries);
        for (size_t i = 0; i < study->n_chunks; i++)
                if (study->chunks[i].file == STUDY_NONE)
                        model_cut(cutter, model->chunks[i].dataset, study->chunks[i].events);
}

static void model_find_files(struct file *files, const struct model *model,
                             const struct study *study)
{
        for (size_t i = 0; i < study->n_chunks; i++) {
                const struct study_chunk *chunk = &study->chunks[i];
                uint64_t stop = (uint64_t)chunk->entry_start + chunk->events;
                struct file *file;

                if (chunk->file == STUDY_NONE)
                        continue;
                file = &files[chunk->file];
                file->known = true;
                file->dataset = model->chunks[i].dataset;
                if (stop > file->entries)
                        file->entries = stop;
        }
}

int model_rechunk(const struct model *model, const struct study *study, int64_t chunksize,
                  size_t most, struct model_chunk **ret, size_t *n_ret, struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_free) struct file *files = NULL;
        struct cutter cutter = { .chunksize = chunksize };

        files = calloc(study->texts.n + 1, sizeof(*files));
        if (!files)
                return roast_fail_nomem(error);
        model_find_files(files, model, study);
        model_cut_all(&cutter, model, study, files);
        if (cutter.n > most)
                return roast_fail(error, ROAST_E_INVALID, "chunks of %lld events would be %zu",
                                  (long long)chunksize, cutter.n);
        cutter.chunks = malloc((cutter.n + 1) * sizeof(*cutter.chunks));
        if (!cutter.chunks)
                return roast_fail_nomem(error);
        model_cut_all(&cutter, model, study, files);
        *ret = cutter.chunks;
        *n_ret = cutter.n;
        return 0;
}
