/*
 * Which chunk a section belongs to
 *
 * A thread that runs a chunk has it at hand; chunks within chunks form a chain.
 * Sections of a processor that is called within a chunk are the chunk's own.
 * A thread that was started inside process() has none: it belongs to the only
 * chunk of that processor that is active, if there is exactly one.
 */

#include "probe.h"

_Thread_local struct native_thread native_thread;
ChunkObject *chunk_active;

/* Forgets chunks of this thread that another one has ended. */
static ChunkObject *chunk_innermost_active(void)
{
        while (native_thread.innermost && native_thread.innermost->ended) {
                ChunkObject *ended = native_thread.innermost;

                native_thread.innermost = ended->outer;
                ended->outer = NULL;
                Py_DECREF(ended);
        }
        return native_thread.innermost;
}

static bool chunk_serves(const ChunkObject *chunk, const PyObject *owner)
{
        if (chunk->owner == owner)
                return true;
        for (Py_ssize_t i = chunk->guests ? PyList_Size(chunk->guests) : 0; i > 0; i--)
                if (PyList_GetItem(chunk->guests, i - 1) == owner)
                        return true;
        return false;
}

static ChunkObject *chunk_of_thread(PyObject *owner)
{
        ChunkObject *chunk = chunk_innermost_active();

        while (chunk && (chunk->ended || !chunk_serves(chunk, owner)))
                chunk = chunk->outer;
        return chunk;
}

ChunkObject *chunk_search(PyObject *owner)
{
        ChunkObject *found = chunk_of_thread(owner);

        if (found)
                return found;
        for (ChunkObject *chunk = chunk_active; chunk; chunk = chunk->next) {
                if (!chunk_serves(chunk, owner))
                        continue;
                if (found)
                        return NULL;
                found = chunk;
        }
        return found;
}

void chunk_push(ChunkObject *chunk)
{
        chunk->outer = chunk_innermost_active();
        native_thread.innermost = (ChunkObject *)Py_NewRef((PyObject *)chunk);
        chunk->prev = NULL;
        chunk->next = chunk_active;
        if (chunk_active)
                chunk_active->prev = chunk;
        chunk_active = chunk;
}

/* `ended` is set: the chunk leaves its thread's chain now, or when that thread looks next. */
void chunk_drop(ChunkObject *chunk)
{
        if (chunk->prev)
                chunk->prev->next = chunk->next;
        else
                chunk_active = chunk->next;
        if (chunk->next)
                chunk->next->prev = chunk->prev;
        chunk->prev = chunk->next = NULL;
        chunk_innermost_active();
}
