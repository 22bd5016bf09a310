/* Values of metrics in their units, for people: see roast-metrics.h. */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "roast-metrics.h"
#include "roast-units.h"

/* One decimal, or three digits where one decimal would hide the number or not end. */
static void format_plain(char *text, size_t size, double real, const char *unit)
{
        double magnitude = fabs(real);
        bool plain = (magnitude >= 0.0995 && magnitude < 1e15) || real == 0;

        snprintf(text, size, plain ? "%.1f%s" : "%.3g%s", real, unit);
}

static void format_percent(char *text, size_t size, double percent)
{
        snprintf(text, size, fabs(percent) < 1e15 ? "%.1f%%" : "%.3g%%", percent);
}

char *roast_format_unit(char *text, size_t size, enum roast_unit unit, double real, int64_t count)
{
        switch (unit) {
        case ROAST_UNIT_SECONDS:
                return roast_format_seconds(text, size, real);
        case ROAST_UNIT_BYTES:
                return roast_format_bytes(text, size, real);
        case ROAST_UNIT_MIB:
                return roast_format_bytes(text, size, real * 1024 * 1024);
        case ROAST_UNIT_COUNT:
                if ((double)count == real)
                        return roast_format_count(text, size, count);
                format_plain(text, size, real, "");
                break;
        case ROAST_UNIT_WORKERS:
        case ROAST_UNIT_CORES:
                format_plain(text, size, real, "");
                break;
        case ROAST_UNIT_GBPS:
                snprintf(text, size,
                         (real >= 0.01 && real < 1e15) || real == 0 ? "%.2f Gbps" : "%.3g Gbps",
                         real);
                break;
        case ROAST_UNIT_MB_PER_S:
                format_plain(text, size, real, " MB/s");
                break;
        case ROAST_UNIT_KHZ:
                format_plain(text, size, real, " kHz");
                break;
        case ROAST_UNIT_KHZ_PER_CORE:
                format_plain(text, size, real, " kHz/core");
                break;
        case ROAST_UNIT_HZ_PER_CORE:
                format_plain(text, size, real, " Hz/core");
                break;
        case ROAST_UNIT_FRACTION:
                format_percent(text, size, real * 100);
                break;
        case ROAST_UNIT_PERCENT:
                format_percent(text, size, real);
                break;
        case ROAST_UNIT_FACTOR:
                format_plain(text, size, real, "x");
                break;
        case ROAST_N_UNITS:
                text[0] = '\0';
                break;
        }
        return text;
}

char *roast_format_value(char *text, size_t size, enum roast_metric metric,
                         const struct roast_value *value)
{
        return roast_format_unit(text, size, roast_metrics[metric].unit, value->real, value->count);
}

char *roast_format_custom(char *text, size_t size, const struct roast_custom *custom)
{
        const char *unit = custom->unit ? custom->unit : "";
        double real = custom->value.real;

        for (unsigned int i = 0; i < ROAST_N_UNITS; i++)
                if (!strcmp(unit, roast_unit_names[i]))
                        return roast_format_unit(text, size, i, real, custom->value.count);
        if (custom->value.count && (double)custom->value.count == real)
                roast_format_count(text, size, custom->value.count);
        else
                snprintf(text, size, "%.4g", real);
        if (*unit)
                snprintf(text + strlen(text), size - strlen(text), " %s", unit);
        return text;
}
