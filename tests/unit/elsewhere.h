#pragma once
/*
 * Paths that lead elsewhere
 *
 * A test that lists elsewhere.c among its sources has open() calls, its own and
 * the library's, looked at: those of `path` open `instead`. Two at most; the
 * strings must stay.
 */

void elsewhere_put(const char *path, const char *instead);
void elsewhere_none(void);
