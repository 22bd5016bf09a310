#pragma once
/*
 * Importers: measurements of other kinds as runs
 *
 * An importer is a file that ends in a constant row; open.c lists the rows. It
 * recognises its kind by content, and builds a run in memory by the ordinary
 * roast_run_add_*() calls: whatever works on a run works on it.
 */

#include "roast-run.h"
#include "util/buf.h"

struct importer {
        const char *name; /* of the kind, for people: kept in the run as import.from */
        /* 1 or 0, or an error if that cannot be said */
        int (*recognises)(const char *path, struct roast_error *error);
        int (*import)(struct roast_run *run, const char *path, struct roast_error *error);
};

extern const struct importer import_v1;
extern const struct importer import_vine;
extern const struct importer import_parsl;

/*
 * The bytes of directory/name, and a zero behind them that does not count. ROAST_E_NOENT: there is
 * no such file; ROAST_E_INVALID: it has more than `max` bytes. A name of NULL is the path itself.
 */
int import_read_file(struct buf *out, const char *directory, const char *name, size_t max,
                     struct roast_error *error);
