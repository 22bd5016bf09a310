#pragma once
/* Which runs there are in a directory, and in what state */

#include <dirent.h>

#include "roast-run.h"

#define RUN_ENDING ".roast"

bool run_has_ending(const char *name, size_t len);
/*
 * The run files in a directory by name, 9 before 10; hidden ones are nobody's. Their number; the
 * caller frees each entry and the array.
 */
int run_list(struct dirent ***entries, const char *directory, struct roast_error *error);
/* The state in a word, for people */
const char *run_state(const struct roast_run_about *about);
