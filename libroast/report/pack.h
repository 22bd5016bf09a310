#pragma once
/*
 * Data of the page being put together: words as JSON, numbers as columns
 *
 * Each pack_*() describes a column in the JSON, as the value of `key`, and
 * appends its bytes to the columns: see roast-report.h. Errors are kept, as in
 * the JSON writer: pack_finish() tells.
 */

#include "roast-error.h"
#include "util/json.h"

struct pack {
        struct buf header;
        struct buf columns;
        struct json json; /* into header */
};

#define PACK_ABSENT UINT64_MAX

void pack_init(struct pack *pack);
void pack_deinit(struct pack *pack);

/* Real numbers for curves, to four digits; NaN: absent */
void pack_reals(struct pack *pack, const char *key, const float *values, size_t n);
/* Whole numbers of that unit, all digits of them; delta: as differences, for what rises slowly */
void pack_numbers(struct pack *pack, const char *key, const uint64_t *values, size_t n,
                  uint64_t unit, bool delta);

/* Everything in one piece, which the caller frees; the pack is empty afterwards. */
int pack_finish(struct pack *pack, void **data, size_t *len, struct roast_error *error);
