/* Numbers out of the kernel's text files. */

#include <string.h>

#include "probe/readings.h"
#include "probe/scan.h"

int64_t probe_scan(const char **at)
{
        const char *p = *at;
        int64_t value = 0;

        while (*p == ' ' || *p == '\t')
                p++;
        if (*p < '0' || *p > '9')
                return PROBE_ABSENT;
        for (; *p >= '0' && *p <= '9'; p++) {
                if (__builtin_mul_overflow(value, 10, &value) ||
                    __builtin_add_overflow(value, *p - '0', &value))
                        return PROBE_ABSENT;
        }
        *at = p;
        return value;
}

void probe_scan_skip(const char **at, unsigned int n)
{
        const char *p = *at;

        while (n--) {
                p += strspn(p, " \t");
                p += strcspn(p, " \t\n");
        }
        *at = p;
}

int64_t probe_scan_key(const char *text, const char *key)
{
        size_t len = strlen(key);
        const char *line = text;

        while (line && strncmp(line, key, len)) {
                line = strchr(line, '\n');
                if (line)
                        line++;
        }
        if (!line)
                return PROBE_ABSENT;
        line += len;
        return probe_scan(&line);
}
