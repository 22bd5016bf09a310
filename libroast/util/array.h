#pragma once
/*
 * Arrays that grow
 *
 * Whoever has one keeps the pointer, how many elements are in it, and for how
 * many there is room:
 *
 *     if (ARRAY_ROOM(list->rows, list->n, list->cap) < 0)
 *             return ROAST_E_NOMEM;
 *     list->rows[list->n++] = row;
 */

#include <stddef.h>

/*
 * Makes room for element number n, and for as many again as there was room for.
 * 0, or ROAST_E_NOMEM with the array as it was. What is new is not cleared.
 */
#define ARRAY_ROOM(array, n, cap)                                                                  \
        ((n) < (cap) ? 0 : array_grow(&(array), n, &(cap), sizeof(*(array))))

/* `array` is the address of the pointer, which may be of any type. */
int array_grow(void *array, size_t n, size_t *cap, size_t size);
