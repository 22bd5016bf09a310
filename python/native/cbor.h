#pragma once
/*
 * Python values as CBOR (RFC 8949), and back
 *
 * None, bool, int of any size, float (always 8 bytes), str, bytes, list, tuple
 * (as an array) and dict come back as what they were, tuples as lists. A value
 * with item() and no length, such as a NumPy scalar, is what item() gives; one
 * with tolist() what that gives; a set is an array. Anything else is its str(), cut.
 */

#include "native.h"
#include "util/buf.h"

/* 0, or -1 with an exception */
int cbor_encode(struct buf *out, PyObject *value);
/* The value, or NULL with an exception; all of `data` must be used. */
PyObject *cbor_decode(const void *data, size_t len);
