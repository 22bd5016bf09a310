#pragma once
/*
 * Objects as TBufferFile writes them: big-endian, with byte counts
 *
 * An object is [0x40000000 | bytes:4][version:2][members ...]. wire_enter()
 * hands out a cursor over the members that cannot leave the object, and moves
 * the outer cursor behind it; so members of a newer version, and whatever else
 * is not read, are skipped by the byte count.
 *
 * A pointer to an object is [byte count:4][tag:4][object], where the tag is a
 * new class (0xffffffff, then its name), a class seen before (top bit, and the
 * place of that tag), or an object seen before (its place). Places count from
 * the begin of the key plus 2, and resolve without having kept a map.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/buf.h"

/* A view of characters that are not terminated. */
struct text {
        const char *at;
        size_t len;
};

uint16_t wire_u16(struct cursor *cursor);
uint32_t wire_u32(struct cursor *cursor);
uint64_t wire_u64(struct cursor *cursor);
int32_t wire_i32(struct cursor *cursor);
int64_t wire_i64(struct cursor *cursor);
/* A count that old versions store as a double. */
int64_t wire_f64_count(struct cursor *cursor);
/* A cursor over the next n values of a size. */
struct cursor wire_array(struct cursor *cursor, size_t n, size_t size);
/* 4 or 8 bytes */
uint64_t wire_place(struct cursor *cursor, bool is64);
struct text wire_string(struct cursor *cursor);
bool text_is(struct text text, const char *string);

/* The members of the next object; the outer cursor turns bad if it does not fit. */
struct cursor wire_enter(struct cursor *outer, uint16_t *version);
void wire_skip(struct cursor *outer);

struct wire_named {
        struct text name;
        struct text title;
};

struct wire_named wire_tnamed(struct cursor *outer);
/* Cursor at the elements of a TObjArray, and their number. */
struct cursor wire_tobjarray(struct cursor *outer, size_t *n);

/* An expanded object of a key. */
struct body {
        uint8_t *data;
        size_t len;
        size_t keylen;
};

struct wire_pointer {
        struct text class_name; /* empty: a null pointer */
        struct cursor object;   /* at its byte count */
};

/* References to objects are followed backwards only. */
struct wire_pointer wire_pointer(struct cursor *outer, const struct body *body);
