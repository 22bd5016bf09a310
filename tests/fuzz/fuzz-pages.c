/*
 * Tables of SQLite files from any bytes
 *
 * The file is one that SQLite made, with the input laid over it: two bytes say
 * how far to go on, one how many bytes follow. Wherever SQLite itself can read
 * the table to its end, the pages give rows or an error and nothing worse; an
 * undamaged file gives the same number of rows.
 */

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "roast-error.h"
#include "run/pages.h"

#define COLUMNS 4
#define ROWS    60
#define LIMIT   100000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct made {
        char path[64];
        uint8_t *bytes;
        size_t len;
};

static void exec(sqlite3 *db, const char *sql)
{
        if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
                abort();
}

/* Rows of every type; some go on in other pages, and the table has several levels. */
static void make_table(const char *path)
{
        sqlite3 *db;

        unlink(path);
        if (sqlite3_open(path, &db) != SQLITE_OK)
                abort();
        exec(db, "PRAGMA page_size=512; CREATE TABLE t(id INTEGER PRIMARY KEY,a,b,c,d); BEGIN");
        for (int i = 0; i < ROWS; i++) {
                char sql[160];

                snprintf(sql, sizeof(sql),
                         "INSERT INTO t VALUES(NULL,%d,%d.5,printf('%%.*c',%d,'x'),"
                         "CASE %d WHEN 0 THEN NULL ELSE zeroblob(%d) END)",
                         i * i * i * i, i, i, i % 3, i % 7 ? i : 900);
                exec(db, sql);
        }
        exec(db, "COMMIT");
        sqlite3_close(db);
}

static struct made the_one;

static void remove_made(void)
{
        unlink(the_one.path);
        free(the_one.bytes);
}

static const struct made *made(void)
{
        struct stat st;
        int fd;

        if (the_one.bytes)
                return &the_one;
        snprintf(the_one.path, sizeof(the_one.path), "/dev/shm/fuzz-pages-%ld.db", (long)getpid());
        make_table(the_one.path);
        if (atexit(remove_made) != 0)
                abort();
        fd = open(the_one.path, O_RDONLY | O_CLOEXEC);
        if (fd < 0 || fstat(fd, &st) < 0)
                abort();
        the_one.len = (size_t)st.st_size;
        the_one.bytes = malloc(the_one.len);
        if (!the_one.bytes || read(fd, the_one.bytes, the_one.len) != (ssize_t)the_one.len)
                abort();
        close(fd);
        return &the_one;
}

static void write_damaged(const struct made *whole, const uint8_t *data, size_t size)
{
        uint8_t *bytes = malloc(whole->len);
        size_t at = 0;
        int fd;

        if (!bytes)
                abort();
        memcpy(bytes, whole->bytes, whole->len);
        while (size > 3) {
                size_t n = data[2] % 16 + 1;

                at = (at + data[0] + 256u * data[1]) % whole->len;
                data += 3;
                size -= 3;
                n = n < size ? n : size;
                n = n < whole->len - at ? n : whole->len - at;
                memcpy(bytes + at, data, n);
                data += n;
                size -= n;
        }
        fd = open(whole->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        if (fd < 0 || write(fd, bytes, whole->len) != (ssize_t)whole->len)
                abort();
        close(fd);
        free(bytes);
}

/* Touches every byte that a value says it has */
static bool has_its_bytes(const struct run_value *value)
{
        const uint8_t *bytes = value->data;
        size_t sum = 0;

        if (value->type == RUN_STRING || value->type == RUN_BYTES)
                for (size_t i = 0; i < value->len; i++)
                        sum += bytes[i];
        return sum <= 255 * value->len;
}

static int64_t walk(sqlite3 *db)
{
        struct run_value values[COLUMNS];
        struct pages *pages = NULL;
        int64_t id, n = 0;
        int r;

        r = pages_open(&pages, db, "t");
        if (r <= 0)
                return r;
        while ((r = pages_next(pages, &id, values, COLUMNS, UINT64_MAX)) > 0) {
                if (++n > LIMIT) /* a file of this size has not so many */
                        abort();
                for (size_t i = 0; i < COLUMNS; i++)
                        if (!has_its_bytes(&values[i]))
                                abort();
        }
        pages_free(pages);
        if (r < 0 && r != ROAST_E_CORRUPT && r != ROAST_E_NOMEM && r != ROAST_E_IO)
                abort();
        return r < 0 ? r : n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        const struct made *whole = made();
        sqlite3 *db = NULL;

        write_damaged(whole, data, size);
        if (sqlite3_open(whole->path, &db) == SQLITE_OK &&
            sqlite3_exec(db, "BEGIN; SELECT count(*) FROM sqlite_schema", NULL, NULL, NULL) ==
                    SQLITE_OK) {
                int64_t n = walk(db);

                if (size <= 3 && n != ROWS)
                        abort();
        }
        sqlite3_close(db);
        return 0;
}
