/* What encoding and decoding of records share: see codec.h. */

#include <stdlib.h>

#include "record/codec.h"
#include "util/size.h"

int codec_work_init(struct codec_work *work, size_t n, size_t n_strings)
{
        size_t bytes, contexts;
        char *at;

        work->n_contexts = n_strings + 1;
        work->heap = NULL;
        if (!size_add(n, 1, &n) || !size_mul(n, 4 * sizeof(int64_t) + sizeof(bool), &bytes) ||
            !size_mul(work->n_contexts, sizeof(struct column_context), &contexts) ||
            !size_add(bytes, contexts, &bytes))
                return ROAST_E_NOMEM;
        at = bytes <= sizeof(work->stack) ? work->stack : (work->heap = malloc(bytes));
        if (!at)
                return ROAST_E_NOMEM;
        work->memory = (struct column_context *)(void *)at;
        work->values = (int64_t *)(void *)(at + contexts) + 1;
        work->scratch = work->values - 1 + n;
        work->files = work->scratch + n;
        work->workers = work->files + n;
        work->present = (bool *)(work->workers + n);
        work->values[-1] = 0;
        return 0;
}

void codec_work_deinit(struct codec_work *work)
{
        free(work->heap);
}

struct column_rows codec_rows(const struct codec_work *work, size_t n, const int64_t *contexts)
{
        return (struct column_rows){
                .n = n,
                .present = work->present,
                .values = work->values,
                .contexts = contexts,
                .n_contexts = work->n_contexts,
                .memory = work->memory,
                .scratch = work->scratch,
        };
}

void codec_load(const struct codec_work *work, const int64_t *column, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                work->present[i] = column[i] != CHUNK_ABSENT;
                work->values[i] = work->present[i] ? column[i] : 0;
        }
}

void codec_store(const struct codec_work *work, int64_t *column, size_t n)
{
        for (size_t i = 0; i < n; i++)
                column[i] = work->present[i] ? work->values[i] : CHUNK_ABSENT;
}

void codec_store_contexts(const struct codec_work *work, int64_t *contexts, size_t n)
{
        for (size_t i = 0; i < n; i++)
                contexts[i] = work->present[i] ? work->values[i] : (int64_t)work->n_contexts - 1;
}

const int64_t *codec_contexts(const struct codec_work *work, enum chunk_field field)
{
        int context = predict_context(field);

        return context == CHUNK_FILE ? work->files : context == CHUNK_WORKER ? work->workers : NULL;
}
