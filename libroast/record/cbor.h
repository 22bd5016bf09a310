#pragma once
/*
 * The blobs of a chunk record, between CBOR and JSON
 *
 * custom, metadata and file_metadata are CBOR (RFC 8949), as Python's side
 * writes them: definite lengths, 64-bit floats, big integers as tagged bytes.
 */

#include "util/buf.h"
#include "util/json-read.h"
#include "util/json.h"

/* Appends the value that comes next; false: it was not read, and the reader knows why. */
bool cbor_of_json(struct buf *out, struct json_reader *in);
/* The head of a map of n pairs, of a text, and what else a caller puts together itself */
int cbor_put_map(struct buf *out, size_t n);
int cbor_put_text(struct buf *out, const char *data, size_t len);

/*
 * Writes a value as JSON: keys that are no text as their JSON text, bytes as hexadecimal digits,
 * damaged or nested too deeply as null.
 */
void cbor_to_json(struct json *json, const void *data, size_t len);

/* The pairs of a map whose keys are text, each value as CBOR, up to where it is damaged */
typedef void (*cbor_pair_visitor)(const char *key, size_t key_len, const void *value,
                                  size_t value_len, void *context);
void cbor_each_pair(const void *data, size_t len, cbor_pair_visitor visit, void *context);
/* Whether a value is a map with anything in it */
bool cbor_is_filled_map(const void *data, size_t len);
