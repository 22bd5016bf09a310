#pragma once
/*
 * Positional reads of a local file
 *
 * source_read() fills memory of the caller; source_view() shows bytes in a
 * window that the next view may move. Both refuse what is not inside the file,
 * so that callers may pass offsets and lengths as they found them. source_has()
 * tells whether a view would not have to read.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "roast-error.h"

struct source {
        int fd;
        uint64_t size;
        uint64_t reads;
        uint64_t bytes_read;
        uint8_t *window;
        size_t window_cap;
        uint64_t window_at;
        size_t window_len;
};

int source_open(struct source *source, const char *path, struct roast_error *error);
void source_deinit(struct source *source);
int source_read(struct source *source, uint64_t at, void *to, size_t len,
                struct roast_error *error);
bool source_has(const struct source *source, uint64_t at, size_t len);
/* `ahead` bytes (at least `len`) are read if the window does not have them yet. */
int source_view(struct source *source, uint64_t at, size_t len, size_t ahead, const uint8_t **view,
                struct roast_error *error);
