#pragma once
/* An instant in UTC as people write it */

#include <stdint.h>

struct utc {
        int year, month, day, hour, minute, second, microsecond;
};

/* Nanoseconds since 1970; what is less than a microsecond is cut off. */
struct utc utc_of_ns(int64_t utc_ns);

/* "2026-11-15T19:52:52.098000", without an offset, as isoformat() of Python's naive datetimes */
void utc_text(char text[32], int64_t utc_ns);
