#pragma once
/* The list of the runs, as JSON and as a page */

#include "serve/catalog.h"
#include "util/buf.h"

extern const char list_style[];

int list_json(struct buf *out, struct catalog *catalog, struct roast_error *error);
int list_html(struct buf *out, struct catalog *catalog, struct roast_error *error);
/* The address of a run's page, ended by a NUL that does not count */
int list_link(struct buf *out, const char *id);
