#pragma once
/*
 * The log of a run that was not finished: SQLite's write-ahead log, beside the file
 *
 * SQLite itself takes a log up to the first frame that is not as it was written,
 * and forgets the rest without a word: that is right for a writer that died, and
 * wrong for a log that was damaged later. Frames are written one behind the
 * other; so where a commit that belongs to the log stands behind a frame that
 * does not fit, the log is damaged. What is missing at its end cannot be told.
 */

#include "roast-error.h"

/* Looks at the log of the run at `path`; 0 if it is whole, or there is none. */
int run_log_check(const char *path, struct roast_error *error);
/* Whether there is a log beside `path` with anything in it; ROAST_E_NOMEM */
int run_has_log(const char *path);
