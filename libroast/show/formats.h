#pragma once
/* Cells of text tables; each returns 0 or ROAST_E_NOMEM. */

#include <stddef.h>

#include "util/buf.h"

/* RFC 4180: quoted where it must be, quotes doubled */
int format_csv_cell(struct buf *out, const char *text, size_t len);
/*
 * " text |": pipes would end the cell, line breaks the row; other characters are escaped that are
 * read as markup or obeyed.
 */
int format_markdown_cell(struct buf *out, const char *text, size_t len);
