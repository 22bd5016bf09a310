/* A bump allocator in chunks: see arena.h. */

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "rootfile/arena.h"
#include "util/size.h"

#define CHUNK_BYTES 65536

struct arena_chunk {
        struct arena_chunk *next;
        size_t used;
        size_t size;
        uint8_t *adopted;
        alignas(max_align_t) uint8_t data[];
};

static void arena_chunk_drop(struct arena *arena)
{
        struct arena_chunk *next = arena->chunks->next;

        free(arena->chunks->adopted);
        free(arena->chunks);
        arena->chunks = next;
}

void arena_deinit(struct arena *arena)
{
        while (arena->chunks)
                arena_chunk_drop(arena);
}

static struct arena_chunk *arena_chunk_new(struct arena *arena, size_t size)
{
        struct arena_chunk *chunk = calloc(1, sizeof(*chunk) + size);

        if (!chunk)
                return NULL;
        chunk->size = size;
        chunk->next = arena->chunks;
        arena->chunks = chunk;
        return chunk;
}

void *arena_take(struct arena *arena, size_t n, size_t size)
{
        struct arena_chunk *chunk = arena->chunks;
        size_t bytes;
        void *memory;

        if (!size_mul(n, size, &bytes) || bytes > arena->left) {
                arena->over = true;
                return NULL;
        }
        bytes = (bytes + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
        if (!chunk || chunk->size - chunk->used < bytes) {
                chunk = arena_chunk_new(arena, bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES);
                if (!chunk)
                        return NULL;
        }
        memory = chunk->data + chunk->used;
        chunk->used += bytes;
        arena->left -= bytes < arena->left ? bytes : arena->left;
        return memory;
}

void *arena_copy(struct arena *arena, const void *data, size_t len)
{
        void *copy = arena_take(arena, len, 1);

        if (copy && len)
                memcpy(copy, data, len);
        return copy;
}

void *arena_adopt(struct arena *arena, struct buf *buf)
{
        struct arena_chunk *chunk = NULL;

        if (buf->len == 0)
                return arena_take(arena, 0, 1);
        if (buf->len > arena->left)
                arena->over = true;
        else
                chunk = arena_chunk_new(arena, 0);
        if (!chunk)
                return NULL;
        arena->left -= buf->len;
        chunk->adopted = buf->data;
        *buf = (struct buf)BUF_INIT;
        return chunk->adopted;
}

const char *arena_text(struct arena *arena, const void *text, size_t len)
{
        return arena_join(arena, "", '\0', text, len);
}

const char *arena_join(struct arena *arena, const char *above, char separator, const void *name,
                       size_t len)
{
        size_t above_len = strlen(above);
        char *path = arena_take(arena, above_len + len + 2, 1);

        if (!path)
                return NULL;
        memcpy(path, above, above_len);
        if (above_len)
                path[above_len++] = separator;
        if (len)
                memcpy(path + above_len, name, len);
        return path;
}

struct arena_mark arena_mark(const struct arena *arena)
{
        struct arena_mark mark = { .chunk = arena->chunks, .left = arena->left };

        mark.used = mark.chunk ? mark.chunk->used : 0;
        return mark;
}

void arena_release(struct arena *arena, const struct arena_mark *mark)
{
        while (arena->chunks != mark->chunk)
                arena_chunk_drop(arena);
        if (mark->chunk) {
                memset(mark->chunk->data + mark->used, 0, mark->chunk->used - mark->used);
                mark->chunk->used = mark->used;
        }
        arena->left = mark->left;
        arena->over = false;
}
