#pragma once
/*
 * Memory that lives as long as a file object
 *
 * Everything that is kept of a file comes from here and is released at once.
 * The limit is what keeps a hostile file from taking the machine: whatever
 * trick makes a reader go on and on, it ends when the arena is spent. What a
 * damaged object took can be given back.
 */

#include <stdbool.h>
#include <stddef.h>

#include "util/buf.h"

struct arena_chunk;

struct arena {
        struct arena_chunk *chunks;
        size_t left; /* bytes that may still be taken */
        bool over;   /* more was asked for */
};

struct arena_mark {
        struct arena_chunk *chunk;
        size_t used;
        size_t left;
};

void arena_deinit(struct arena *arena);
/* Zeroed memory for n things of a size, or NULL: no memory, or the limit. */
void *arena_take(struct arena *arena, size_t n, size_t size);
void *arena_copy(struct arena *arena, const void *data, size_t len);
/* Takes over the memory of a buffer, which is empty afterwards; NULL: as above. */
void *arena_adopt(struct arena *arena, struct buf *buf);
/* A terminated copy; bytes after a NUL are kept but will not be seen. */
const char *arena_text(struct arena *arena, const void *text, size_t len);
/* Both names with the separator between them; without it if there is nothing above. */
const char *arena_join(struct arena *arena, const char *above, char separator, const void *name,
                       size_t len);

/* Gives back all that was taken after the mark. */
struct arena_mark arena_mark(const struct arena *arena);
void arena_release(struct arena *arena, const struct arena_mark *mark);
