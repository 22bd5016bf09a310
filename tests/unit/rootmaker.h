#pragma once
/*
 * Small ROOT files, made byte by byte
 *
 * For what no real file has: loops, lies about lengths, other versions. A file
 * has a header at 0, its top directory at 100, then records in the order in
 * which they are added, then the list of keys.
 */

#include <stdint.h>

#include "util/buf.h"

struct maker {
        struct buf file;
        struct buf keys; /* of the top directory */
        uint32_t num_keys;
        uint64_t directory_at;
        uint64_t missing_bytes; /* behind the end, that the header counts */
};

void maker_init(struct maker *maker);
void maker_deinit(struct maker *maker);

/* Big-endian, n bytes. */
void maker_put(struct buf *buf, uint64_t value, unsigned int n);
void maker_string(struct buf *buf, const char *string);

/* A key with an object, uncompressed; returns where the record begins. */
uint64_t maker_object(struct maker *maker, const char *class_name, const char *name, int16_t cycle,
                      const void *object, uint32_t len);
/* A key of the top directory for a record that is there already, or is not. */
void maker_key(struct maker *maker, const char *class_name, const char *name, int16_t cycle,
               uint64_t seek, uint32_t stored, uint32_t objlen);
/* Writes the list of keys and points the top directory to it. */
void maker_finish(struct maker *maker);

/* A directory record: version, times, and the place of its keys. */
void maker_directory(struct buf *buf, uint64_t seek_keys, uint32_t nbytes_keys);

/* An object of a class: byte count and version around its members. */
void maker_wrap(struct buf *out, uint16_t version, const struct buf *members);

/* An RNTuple envelope around a payload, with its checksum. */
void maker_envelope(struct buf *out, uint16_t type, const void *payload, size_t len);
/* The anchor of an RNTuple, version 1.0, with its checksum. */
void maker_anchor(struct buf *out, uint64_t header, uint64_t header_len, uint64_t footer,
                  uint64_t footer_len);
