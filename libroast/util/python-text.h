#pragma once
/* Values that Python wrote as text: repr() of a tuple, isoformat() of a datetime */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/buf.h"

#define PYTHON_TUPLE_MAX 8

struct python_item {
        enum { PYTHON_NONE, PYTHON_TEXT, PYTHON_INT } type;
        int64_t integer;
        char *text; /* ended by a NUL; owned by the tuple */
};

struct python_tuple {
        size_t n;
        struct python_item items[PYTHON_TUPLE_MAX];
};

void python_tuple_deinit(struct python_tuple *tuple);
/* "('/a.root', 0, 20000)": 1, 0 if it is not a tuple of texts, whole numbers and None, or no memory
 */
int python_tuple_read(struct python_tuple *tuple, const char *data, size_t len);

/*
 * "2026-11-15T19:52:52.098791", "...Z", "...+01:00": nanoseconds since 1970 as if it were UTC, less
 * the offset where one is given.
 */
bool python_time_read(const char *data, size_t len, int64_t *utc_ns);
