#pragma once
/* A directory for a test, removed with what is in it. */

#include <stddef.h>

/* As cmocka's setup and teardown: *state is the directory's path. */
int folder_make(void **state);
int folder_remove(void **state);

/* directory/name; valid until the fourth call after this one. */
const char *folder_path(void **state, const char *name);

/* What a file is to hold, and nothing else */
void folder_put(const char *path, const char *data, size_t len);
void folder_put_text(const char *path, const char *text);
/* The whole of a text file; the caller frees. NULL: it is not there, or no text. */
char *folder_text(const char *path);
