#pragma once
/* Text inside of HTML */

#include "util/buf.h"

/*
 * Appends a text so that it stays text, between elements and in a quoted attribute; control
 * characters are blanks. 0 or ROAST_E_NOMEM.
 */
int html_put(struct buf *out, const char *text);
