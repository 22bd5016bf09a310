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

#define PACK_ABSENT_U32 UINT32_MAX

void pack_init(struct pack *pack);
void pack_deinit(struct pack *pack);

/* Rounded to so many bits of precision: fewer pack better. */
enum { PACK_EXACT = 24, PACK_FIVE_DIGITS = 17, PACK_FOUR_DIGITS = 14 };

void pack_f32(struct pack *pack, const char *key, const float *values, size_t n, unsigned int bits);
void pack_u32(struct pack *pack, const char *key, const uint32_t *values, size_t n, bool delta);
void pack_u16(struct pack *pack, const char *key, const uint16_t *values, size_t n);
void pack_u8(struct pack *pack, const char *key, const uint8_t *values, size_t n);

/* Everything in one piece, which the caller frees; the pack is empty afterwards. */
int pack_finish(struct pack *pack, void **data, size_t *len, struct roast_error *error);
