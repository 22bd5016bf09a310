#pragma once
/* Numbers out of the kernel's text files. */

#include <stdint.h>

/*
 * The next decimal number, after blanks; `at` moves behind it. PROBE_ABSENT if
 * there is none here (also if it is negative or does not fit).
 */
int64_t probe_scan(const char **at);
/* Skips `n` words (runs of non-blanks). */
void probe_scan_skip(const char **at, unsigned int n);
/* The number behind `key` where a line of `text` begins with it, else PROBE_ABSENT. */
int64_t probe_scan_key(const char *text, const char *key);
