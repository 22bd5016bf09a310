#pragma once
/* Strings that are not ended by a NUL, as C strings */

#include <stdlib.h>
#include <string.h>

/* A copy that the caller frees; NULL: no memory. Unlike strndup() it reads exactly `len` bytes. */
static inline char *text_copy(const void *data, size_t len)
{
        char *copy = malloc(len + 1);

        if (!copy)
                return NULL;
        if (len)
                memcpy(copy, data, len);
        copy[len] = '\0';
        return copy;
}
