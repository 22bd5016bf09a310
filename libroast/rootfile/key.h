#pragma once
/*
 * Keys, and the objects behind them
 *
 *   +----------+-----------+----------+--------+----------+---------+---------+---------+
 *   | nbytes:4 | version:2 | objlen:4 | time:4 | keylen:2 | cycle:2 | seek:4/8| pdir:4/8|
 *   +----------+-----------+----------+--------+----------+---------+---------+---------+
 *   | class name, object name, title ...
 *
 * 8-byte places if the version is over 1000. The object follows at keylen; it
 * is compressed if it is longer than what is stored of it.
 */

#include "rootfile/rootfile.h"
#include "rootfile/wire.h"

/* The smallest key: 26 bytes and three empty strings. */
#define KEY_BYTES_MIN 29

struct key {
        uint32_t nbytes;
        uint32_t objlen;
        uint16_t keylen;
        int16_t cycle;
        uint64_t seek;
        struct text class_name;
        struct text name;
        struct text title;
};

/* Turns the cursor bad if this cannot be a key. */
struct key key_parse(struct cursor *cursor);

/* The object of the key, expanded. */
int body_load(struct rootfile *file, const struct key *key, struct body *ret,
              struct roast_error *error);
void body_deinit(struct body *body);

/*
 * Any stored bytes that expand to `expanded` bytes (or are these, if the sizes
 * are equal). The caller frees them.
 */
int stored_load(struct rootfile *file, uint64_t seek, uint64_t stored, uint64_t expanded,
                uint8_t **ret, struct roast_error *error);
