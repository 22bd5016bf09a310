#pragma once
/*
 * The branches of chunks: how many chunks need each, and its bytes
 *
 * One walk over the table of branches, which is the longest of a run. It also
 * tells what was touched of files whose chunks touched different branches.
 */

#include "metrics/files.h"

int branches_collect(struct collect *collect, struct files *files, struct roast_error *error);
