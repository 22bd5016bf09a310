#pragma once
/* Plain values as the blobs of a chunk record: CBOR, as Python's side writes it */

#include "util/buf.h"
#include "util/source.h"

/* Appends the value that comes next; false: it was not read, and the source knows why. */
bool cbor_of_source(struct buf *out, struct source *in);
