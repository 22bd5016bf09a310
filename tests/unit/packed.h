#pragma once
/* The data of the page, read back as the page reads them */

#include "report/pack.h"
#include "roast-report.h"

struct packed {
        uint8_t *bytes;
        char *json;
        const uint8_t *columns;
};

/* Takes the bytes. */
void packed_of(struct packed *packed, void *bytes, size_t len);
void packed_of_run(struct packed *packed, struct roast_run *run);
void packed_deinit(struct packed *packed);

/* Value i of the column that stands behind `"key":{` for the first time, times its unit */
uint64_t packed_number(const struct packed *packed, const char *key, size_t i);
uint64_t packed_unit(const struct packed *packed, const char *key);
double packed_real(const struct packed *packed, const char *key, size_t i);
