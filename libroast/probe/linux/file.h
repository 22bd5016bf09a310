#pragma once
/*
 * Files of /proc and control groups: kept descriptors, lines and numbers
 *
 * Opening such a file costs five times as much as reading it, so each source
 * keeps its descriptor and reads with pread(). A descriptor of /proc/self that
 * is inherited over fork() still points at the parent: all of them are closed
 * in the child before anything else runs there, and opened again when needed.
 *
 * A probe_file is embedded and zeroes with a path are its initial state. It may
 * be read from any number of threads. What cannot be opened is absent and is
 * not tried again; absence is no error.
 *
 * The bytes that go through here are counted, since the kernel counts them as
 * read by the process too (see io.c).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct probe_file {
        const char *path;
        _Atomic int handle; /* 0: not opened yet, -1: absent, else the descriptor plus 1 */
        bool listed;
        struct probe_file *next;
};

#define PROBE_FILE(path)                                                                           \
        {                                                                                          \
                path, 0, false, NULL                                                               \
        }

/* Reads from the start; the text ends in NUL. Returns its length, 0 if there is nothing to read. */
size_t probe_file_read(struct probe_file *file, char *text, size_t size);
/* The kept descriptor, or -1. */
int probe_file_fd(struct probe_file *file);
/* Whether it is known that there is no such file. */
bool probe_file_absent(const struct probe_file *file);
/* Forgets the file: needed before the memory of `file` goes away. */
void probe_file_close(struct probe_file *file);

/* The same for a file that is needed once; negative if it is there but reading it failed. */
ssize_t probe_file_read_once(const char *path, char *text, size_t size);
/* pread() that counts; every read of probe/ goes through it. */
ssize_t probe_file_pread(int fd, void *data, size_t size, off_t offset);
/* Bytes that the probes of this process have read so far. */
int64_t probe_file_total_bytes(void);

/* Lines of a file of any length; a line that is longer than the buffer is cut. */
struct probe_lines {
        int fd;
        bool failed; /* there may be more lines, but reading them failed */
        off_t offset;
        size_t at;
        size_t len;
        char text[4096];
};

void probe_lines_init(struct probe_lines *lines, int fd);
/* The next line without its end, valid until the next call; NULL after the last one. */
char *probe_lines_next(struct probe_lines *lines);

/*
 * The next decimal number, after blanks; `at` moves behind it. PROBE_ABSENT if
 * there is none here (also if it is negative or does not fit).
 */
int64_t probe_scan(const char **at);
/* Skips `n` words (runs of non-blanks). */
void probe_scan_skip(const char **at, unsigned int n);
/* The number behind `key` where a line of `text` begins with it, else PROBE_ABSENT. */
int64_t probe_scan_key(const char *text, const char *key);
