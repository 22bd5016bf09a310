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
