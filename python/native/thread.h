#pragma once
/*
 * What each thread has of its own: the chunk that it runs
 *
 * The address of it identifies the thread. It is small and read twice by every
 * section, so it lives in the static block of thread-local storage.
 */

struct ChunkObject;

struct native_thread {
        struct ChunkObject *innermost; /* a strong reference */
};

extern _Thread_local struct native_thread native_thread __attribute__((tls_model("initial-exec")));
