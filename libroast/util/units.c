/* Units for people: see roast-units.h. */

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "roast-units.h"

char *roast_format_bytes(char *text, size_t size, double bytes)
{
        static const char *const prefixes[] = { "B", "kB", "MB", "GB", "TB", "PB", "EB" };
        size_t i = 0;

        /* what would be rounded to 1000 goes to the next prefix */
        while (fabs(bytes) >= (i ? 999.995 : 999.5) &&
               i + 1 < sizeof(prefixes) / sizeof(prefixes[0])) {
                bytes /= 1000;
                i++;
        }
        snprintf(text, size,
                 i == 0               ? "%.0f %s"
                 : fabs(bytes) < 1e15 ? "%.2f %s"
                                      : "%.3g %s",
                 bytes, prefixes[i]);
        return text;
}

static void units_format_long(char *text, size_t size, double seconds)
{
        long long whole = (long long)seconds;

        if (whole < 3600)
                snprintf(text, size, "%lldm %llds", whole / 60, whole % 60);
        else
                snprintf(text, size, "%lldh %lldm %llds", whole / 3600, whole / 60 % 60,
                         whole % 60);
}

char *roast_format_seconds(char *text, size_t size, double seconds)
{
        double magnitude = fabs(seconds);

        if (magnitude >= 1e15)
                snprintf(text, size, "%.3gs", seconds);
        else if (seconds >= 60)
                units_format_long(text, size, seconds);
        else if (magnitude >= 0.99995 || seconds == 0)
                snprintf(text, size, "%.1fs", seconds);
        else if (magnitude >= 0.99995e-3)
                snprintf(text, size, "%.1fms", seconds * 1e3);
        else if (magnitude >= 0.9995e-6)
                snprintf(text, size, "%.1fus", seconds * 1e6);
        else
                snprintf(text, size, "%.0fns", seconds * 1e9);
        return text;
}

char *roast_format_bytes_1024(char *text, size_t size, double bytes)
{
        static const char *const prefixes[] = { "B", "KB", "MB", "GB", "TB", "PB" };
        size_t i = 0;

        while (fabs(bytes) >= 1024 && i + 1 < sizeof(prefixes) / sizeof(prefixes[0])) {
                bytes /= 1024;
                i++;
        }
        snprintf(text, size, fabs(bytes) < 1e15 ? "%.2f %s" : "%.3g %s", bytes, prefixes[i]);
        return text;
}

char *roast_format_seconds_coarse(char *text, size_t size, double seconds)
{
        double magnitude = fabs(seconds);

        if (magnitude < 0.05 || magnitude >= 60 || isnan(seconds))
                return roast_format_seconds(text, size, seconds);
        snprintf(text, size, "%.1fs", seconds);
        return text;
}

char *roast_format_count(char *text, size_t size, int64_t count)
{
        char digits[24];
        int n = snprintf(digits, sizeof(digits), "%lld", (long long)count);
        size_t out = 0, commas = (size_t)(n - 1 - (count < 0)) / 3;

        if ((size_t)n + commas >= size) /* without its last digits it would be another number */
                n = 0;
        for (int i = 0; i < n; i++) {
                text[out++] = digits[i];
                if (digits[i] != '-' && (n - i - 1) % 3 == 0 && i + 1 < n)
                        text[out++] = ',';
        }
        text[out] = '\0';
        return text;
}

char *roast_format_utc(char *text, size_t size, int64_t utc_ns)
{
        time_t seconds = (time_t)(utc_ns / 1000000000);
        struct tm tm;

        if (!gmtime_r(&seconds, &tm) || !strftime(text, size, "%Y-%m-%d %H:%M:%S UTC", &tm))
                snprintf(text, size, "?");
        return text;
}
