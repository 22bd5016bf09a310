/*
 * The log of a run that was not finished: see log.h.
 *
 * Its format: https://www.sqlite.org/fileformat2.html#the_write_ahead_log
 */

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "run/log.h"
#include "run/sqlite-file.h"
#include "util/cleanup.h"

#define MAGIC       UINT32_C(0x377f0682) /* one more: checksums of big-endian words */
#define HEADER_SIZE 32
#define FRAME_SIZE  24
#define PAGE_SIZES  UINT32_C(0x1fe00) /* a bit for each: 512 to 65536 */
#define TRIES       10
#define WAIT_NS     10000000

/* What is looked at: frames from the first to the last, with what they add up to */
struct log {
        int fd;
        uint32_t page_size;
        bool big_endian;
        uint8_t salts[8];
        uint32_t sums[2];
        uint8_t header[HEADER_SIZE];
};

static uint32_t log_le32(const uint8_t *at)
{
        return (uint32_t)at[3] << 24 | (uint32_t)at[2] << 16 | (uint32_t)at[1] << 8 | at[0];
}

static void log_add_up(struct log *log, const uint8_t *data, size_t len)
{
        for (size_t i = 0; i + 8 <= len; i += 8) {
                uint32_t first = log->big_endian ? be32(data + i) : log_le32(data + i);
                uint32_t second = log->big_endian ? be32(data + i + 4) : log_le32(data + i + 4);

                log->sums[0] += first + log->sums[1];
                log->sums[1] += second + log->sums[0];
        }
}

static bool log_has_sums(const struct log *log, const uint8_t *at)
{
        return be32(at) == log->sums[0] && be32(at + 4) == log->sums[1];
}

/* As many bytes as there are, up to `size`; -1: errno tells. */
static ssize_t log_read_at(int fd, uint8_t *data, size_t size, off_t offset)
{
        size_t done = 0;

        while (done < size) {
                ssize_t n = pread(fd, data + done, size - done, offset + (off_t)done);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return -1;
                if (n == 0)
                        break;
                done += (size_t)n;
        }
        return (ssize_t)done;
}

enum { WHOLE, DAMAGED, CHANGED };

/* Whether the header is one; an empty log has none. ROAST_E_IO: errno tells. */
static int log_read_header(struct log *log, bool *empty)
{
        ssize_t n = log_read_at(log->fd, log->header, HEADER_SIZE, 0);
        uint32_t magic = be32(log->header);

        *empty = n < HEADER_SIZE;
        if (*empty)
                return n < 0 ? ROAST_E_IO : WHOLE;
        log->page_size = be32(log->header + 8);
        log->big_endian = magic & 1;
        log->sums[0] = log->sums[1] = 0;
        memcpy(log->salts, log->header + 16, sizeof(log->salts));
        log_add_up(log, log->header, HEADER_SIZE - 8);
        if ((magic & ~UINT32_C(1)) != MAGIC || !log_has_sums(log, log->header + 24) ||
            !(log->page_size & PAGE_SIZES) || log->page_size & (log->page_size - 1))
                return DAMAGED;
        return WHOLE;
}

/* Whether a frame is the next one of those that add up */
static bool log_continues(struct log *log, const uint8_t *frame)
{
        if (memcmp(frame + 8, log->salts, sizeof(log->salts)) != 0 || be32(frame) == 0)
                return false;
        log_add_up(log, frame, 8);
        log_add_up(log, frame + FRAME_SIZE, log->page_size);
        return log_has_sums(log, frame + 16);
}

/* Whether a frame ends a commit of this log, and no earlier one's */
static bool log_is_commit(const struct log *log, const uint8_t *frame)
{
        return memcmp(frame + 8, log->salts, sizeof(log->salts)) == 0 && be32(frame) != 0 &&
               be32(frame + 4) != 0;
}

/* Whether a commit stands behind a frame that does not fit */
static int log_read_frames(struct log *log)
{
        size_t size = FRAME_SIZE + (size_t)log->page_size;
        ROAST_CLEANUP(cleanup_free) uint8_t *frame = malloc(size);
        off_t offset = HEADER_SIZE;
        bool fits = true;
        ssize_t n;

        if (!frame)
                return ROAST_E_NOMEM;
        while ((n = log_read_at(log->fd, frame, size, offset)) == (ssize_t)size) {
                if (!fits && log_is_commit(log, frame))
                        return DAMAGED;
                fits = fits && log_continues(log, frame);
                offset += n;
        }
        return n < 0 ? ROAST_E_IO : WHOLE;
}

/* A writer begins its log anew with another header: what was read then is of two logs. */
static bool log_has_changed(const struct log *log)
{
        uint8_t header[HEADER_SIZE];

        return log_read_at(log->fd, header, HEADER_SIZE, 0) != HEADER_SIZE ||
               memcmp(header, log->header, HEADER_SIZE) != 0;
}

static int log_look(struct log *log)
{
        bool empty;
        int r = log_read_header(log, &empty);

        if (r == WHOLE && !empty)
                r = log_read_frames(log);
        return r == DAMAGED && log_has_changed(log) ? CHANGED : r;
}

/* NULL: no memory */
static char *log_name_of(const char *path)
{
        char *name;

        return asprintf(&name, "%s-wal", path) < 0 ? NULL : name;
}

int run_has_log(const char *path)
{
        ROAST_CLEANUP(cleanup_free) char *name = log_name_of(path);
        struct stat st;

        if (!name)
                return ROAST_E_NOMEM;
        return stat(name, &st) == 0 && st.st_size > 0;
}

int run_log_check(const char *path, struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_free) char *name = log_name_of(path);
        ROAST_CLEANUP(cleanup_close) int fd = -1;
        struct log log = { 0 };
        int r;

        if (!name)
                return roast_fail_nomem(error);
        fd = open(name, O_RDONLY | O_CLOEXEC);
        if (fd < 0 && errno == ENOENT)
                return 0;
        log.fd = fd;
        r = fd < 0 ? ROAST_E_IO : log_look(&log);
        /* A writer may be about to write what does not fit yet. */
        for (int i = 0; i < TRIES && r > WHOLE; i++) {
                nanosleep(&(struct timespec){ .tv_nsec = WAIT_NS }, NULL);
                r = log_look(&log);
        }
        if (r == ROAST_E_NOMEM)
                return roast_fail_nomem(error);
        if (r < 0)
                return roast_fail(error, r, "%s: cannot be read: %s", name, strerror(errno));
        if (r != DAMAGED)
                return 0;
        return roast_fail(error, ROAST_E_CORRUPT,
                          "%s: is damaged: its log (%s) does not hold all that was committed", path,
                          name);
}
