#pragma once
/* A directory for a test, removed with what is in it. */

/* As cmocka's setup and teardown: *state is the directory's path. */
int folder_make(void **state);
int folder_remove(void **state);

/* directory/name; valid until the fourth call after this one. */
const char *folder_path(void **state, const char *name);
