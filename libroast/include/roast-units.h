#pragma once
/*
 * Units for people
 *
 * One rule everywhere: SI prefixes (1 MB = 1e6 B), three or four significant
 * digits, times down to nanoseconds. Each writes a C string of at most `size`
 * bytes and returns it.
 */

#include <stddef.h>
#include <stdint.h>

#define ROAST_UNITS_MAX 48

char *roast_format_bytes(char *text, size_t size, double bytes);
char *roast_format_seconds(char *text, size_t size, double seconds);
/*
 * As the documented Python helpers write them: B, KB, ... PB by powers of 1024 with two decimals;
 * seconds to a tenth, and finer only what would be shown as nothing.
 */
char *roast_format_bytes_1024(char *text, size_t size, double bytes);
char *roast_format_seconds_coarse(char *text, size_t size, double seconds);
/* Empty if it does not fit. */
char *roast_format_count(char *text, size_t size, int64_t count);
/* "2026-11-15 20:47:29 UTC" */
char *roast_format_utc(char *text, size_t size, int64_t utc_ns);
