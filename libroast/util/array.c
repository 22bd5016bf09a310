/* Arrays that grow: see array.h. */

#include <stdlib.h>
#include <string.h>

#include "roast-error.h"
#include "util/array.h"
#include "util/size.h"

#define FIRST 64

int array_grow(void *array, size_t n, size_t *cap, size_t size)
{
        size_t more = FIRST, bytes;
        void *elements;

        if (*cap && !size_mul(*cap, 2, &more))
                return ROAST_E_NOMEM;
        if ((more <= n && !size_add(n, 1, &more)) || !size_mul(more, size, &bytes))
                return ROAST_E_NOMEM;
        memcpy(&elements, array, sizeof(elements));
        elements = realloc(elements, bytes);
        if (!elements)
                return ROAST_E_NOMEM;
        memcpy(array, &elements, sizeof(elements));
        *cap = more;
        return 0;
}
