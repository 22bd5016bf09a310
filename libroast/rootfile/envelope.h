#pragma once
/*
 * The building blocks of RNTuple metadata: little-endian, framed, checksummed
 *
 *   envelope:  type:2 length:6 | payload ... | XXH3-64 of all before:8
 *   record:    size:8 (positive, with these 8) | payload ...
 *   list:      size:8 (negative) | items:4 | items ...
 *   locator:   size:4 offset:8, or if negative: type in the top byte of its
 *              absolute value, its own length in the low 16 bits
 *
 * After "RNTuple Binary Format Specification 1.0", tree/ntuple/doc in ROOT.
 * Frames hand out cursors that cannot leave them, and move the outer cursor
 * behind: what a newer version adds at their end is skipped.
 */

#include "rootfile/wire.h"

enum envelope_type { ENVELOPE_HEADER = 1, ENVELOPE_FOOTER = 2, ENVELOPE_PAGE_LIST = 3 };

/* The payload; a bad cursor: another type, another length, another checksum. */
struct cursor envelope_open(const uint8_t *data, size_t len, enum envelope_type type,
                            uint64_t *checksum);

uint16_t frame_u16(struct cursor *cursor);
struct text frame_string(struct cursor *cursor);
struct cursor frame_record(struct cursor *outer);
struct cursor frame_list(struct cursor *outer, size_t *n);
void frame_skip(struct cursor *outer);
void frame_feature_flags(struct cursor *cursor);

struct locator {
        uint64_t seek;
        uint64_t bytes;
};

/* A place in another kind of storage turns the cursor bad. */
struct locator frame_locator(struct cursor *cursor);
