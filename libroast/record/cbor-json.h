#pragma once
/*
 * The blobs of a chunk record as JSON
 *
 * custom, metadata and file_metadata are CBOR, as Python's side writes them:
 * 64-bit floats, big integers as tagged bytes.
 */

#include "util/json.h"

/*
 * Writes a value as JSON: keys that are no text as their JSON text, bytes as hexadecimal digits,
 * damaged or nested too deeply as null.
 */
void cbor_to_json(struct json *json, const void *data, size_t len);
