/* An instant in UTC as people write it: see utc.h. */

#include <stdio.h>
#include <time.h>

#include "util/utc.h"

#define UTC_S 1000000000

struct utc utc_of_ns(int64_t utc_ns)
{
        int64_t rest_ns = utc_ns % UTC_S;
        time_t seconds = (time_t)(utc_ns / UTC_S);
        struct tm tm;

        if (rest_ns < 0) {
                rest_ns += UTC_S;
                seconds--;
        }
        gmtime_r(&seconds, &tm);
        return (struct utc){ tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday,           tm.tm_hour,
                             tm.tm_min,         tm.tm_sec,     (int)(rest_ns / 1000) };
}

void utc_text(char text[32], int64_t utc_ns)
{
        struct utc utc = utc_of_ns(utc_ns);
        int n = snprintf(text, 32, "%04d-%02d-%02dT%02d:%02d:%02d", utc.year, utc.month, utc.day,
                         utc.hour, utc.minute, utc.second);

        if (utc.microsecond)
                snprintf(text + n, (size_t)(32 - n), ".%06d", utc.microsecond);
}
