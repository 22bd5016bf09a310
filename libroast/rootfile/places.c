/* The first bytes at many places of a file: see places.h. */

#include <stdlib.h>

#include "rootfile/places.h"

/* Reading this much for nothing costs less than another read. */
#define GAP_MAX (16u << 10)
#define RUN_MAX (128u << 10)
/* Looking ahead is repeated where a window was lost: a bound for hostile files. */
#define RUN_PLACES_MAX 1024

static int places_compare(const void *a, const void *b)
{
        const struct place *x = a, *y = b;

        if (x->seek != y->seek)
                return x->seek > y->seek ? 1 : -1;
        return (x->index > y->index) - (x->index < y->index);
}

void places_sort(struct place *places, size_t n)
{
        qsort(places, n, sizeof(*places), places_compare);
}

static size_t places_run_length(const struct place *places, size_t n, size_t i, size_t len)
{
        uint64_t begin = places[i].seek, end = begin + len;

        if (n - i > RUN_PLACES_MAX)
                n = i + RUN_PLACES_MAX;
        for (i++; i < n; i++) {
                uint64_t seek = places[i].seek;

                if ((seek > end && seek - end > GAP_MAX) || seek - begin > RUN_MAX)
                        break;
                end = seek + len;
        }
        return (size_t)(end - begin);
}

int places_view(struct source *source, const struct place *places, size_t n, size_t i, size_t len,
                const uint8_t **view, struct roast_error *error)
{
        uint64_t seek = places[i].seek;
        size_t ahead = 0;
        int r;

        if (seek >= source->size)
                return roast_fail(error, ROAST_E_CORRUPT, "a place behind the end of the file");
        if (len > source->size - seek)
                len = (size_t)(source->size - seek);
        if (!source_has(source, seek, len))
                ahead = places_run_length(places, n, i, len);
        r = source_view(source, seek, len, ahead, view, error);
        return r < 0 ? r : (int)len;
}
