/*
 * Opening a run for reading
 *
 * The header of the file is looked at before SQLite uses it, for messages that
 * tell a truncated run from a file of another kind. It is read through SQLite's
 * own file: closing another descriptor of the same file would drop every lock
 * that this process has on it, its writer's too.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "run/file.h"
#include "run/log.h"
#include "run/sqlite-file.h"
#include "util/cleanup.h"

#define HEADER_SIZE 100

/* Bytes of the file beside it whose name ends in "-wal" or "-journal"; -1: there is none */
static off_t open_size_beside(const char *path, const char *end)
{
        ROAST_CLEANUP(cleanup_free) char *name = NULL;
        struct stat st;

        if (asprintf(&name, "%s%s", path, end) < 0) {
                name = NULL;
                return -1;
        }
        return stat(name, &st) < 0 ? -1 : st.st_size;
}

static uint32_t open_page_size_of(const uint8_t *header)
{
        uint32_t size = be16(header + 16);

        return size == 1 ? 65536 : size;
}

/* Offsets of SQLite's header: https://www.sqlite.org/fileformat2.html */
static int open_check_header(const char *path, const uint8_t *header, off_t size,
                             struct roast_error *error)
{
        uint32_t page_size = open_page_size_of(header);
        uint32_t version = be32(header + 60);

        if (memcmp(header, "SQLite format 3", 16))
                return roast_fail(error, ROAST_E_FORMAT, "%s: is not a run file", path);
        if (be32(header + 68) != RUN_APPLICATION_ID)
                return roast_fail(error, ROAST_E_FORMAT,
                                  "%s: is an SQLite database, but not a run file", path);
        if (version / 1000 > RUN_MAJOR)
                return roast_fail(error, ROAST_E_VERSION,
                                  "%s: was written by a newer version (format %u.%u; this one reads"
                                  " up to %d.x): update roastcoffea",
                                  path, version / 1000, version % 1000, RUN_MAJOR);
        if (version < 1000)
                return roast_fail(error, ROAST_E_CORRUPT, "%s: is damaged (format version %u)",
                                  path, version);
        if (size < (off_t)page_size * be32(header + 28) && open_size_beside(path, "-wal") < 0 &&
            open_size_beside(path, "-journal") <= 0)
                return roast_fail(error, ROAST_E_CORRUPT, "%s: is truncated (%lld of %lld bytes)",
                                  path, (long long)size, (long long)page_size * be32(header + 28));
        return 0;
}

/* Whether it is a file at all; SQLite's messages would not say. */
static int open_check_kind(const char *path, struct roast_error *error)
{
        struct stat st;

        if (stat(path, &st) < 0)
                return roast_fail(error, errno == ENOENT ? ROAST_E_NOENT : ROAST_E_IO,
                                  "%s: cannot be opened: %s", path, strerror(errno));
        if (S_ISDIR(st.st_mode))
                return roast_fail(error, ROAST_E_FORMAT, "%s: is a directory, not a run file",
                                  path);
        if (!S_ISREG(st.st_mode))
                return roast_fail(error, ROAST_E_FORMAT, "%s: is not a regular file", path);
        return 0;
}

/* `logged`: the file is to be read with its log. `begun`: more than its first page is in itself. */
static int open_check_file(struct roast_run *run, bool *logged, bool *begun,
                           struct roast_error *error)
{
        uint8_t header[HEADER_SIZE];
        sqlite3_file *file = NULL;
        sqlite3_int64 size = 0;
        int rc = sqlite3_file_control(run->db, "main", SQLITE_FCNTL_FILE_POINTER, &file);

        if (rc == SQLITE_OK)
                rc = file->pMethods->xFileSize(file, &size);
        if (rc == SQLITE_OK && size >= HEADER_SIZE)
                rc = file->pMethods->xRead(file, header, HEADER_SIZE, 0);
        if (rc != SQLITE_OK)
                return roast_fail(error, ROAST_E_IO, "%s: cannot be read: %s", run->path,
                                  sqlite3_errstr(rc));
        *logged = size == 0 || (size >= HEADER_SIZE && header[18] == 2);
        *begun = size >= HEADER_SIZE && size > open_page_size_of(header);
        if (size == 0 && open_size_beside(run->path, "-wal") > 0)
                return 0; /* a run that has just begun: everything is still in the journal */
        if (size < HEADER_SIZE)
                return roast_fail(error, size ? ROAST_E_FORMAT : ROAST_E_CORRUPT, "%s: %s",
                                  run->path, size ? "is not a run file" : "is empty");
        return open_check_header(run->path, header, size, error);
}

/* A path as an SQLite URI that promises that nobody writes */
static char *open_immutable_uri(const char *path)
{
        ROAST_CLEANUP(buf_deinit) struct buf uri = BUF_INIT;
        int r = buf_puts(&uri, path[0] == '/' ? "file://" : "file:");

        for (const char *c = path; *c && r >= 0; c++)
                r = strchr("?#%", *c) ? buf_printf(&uri, "%%%02X", *c)
                                      : buf_put_u8(&uri, (uint8_t)*c);
        if (r >= 0)
                r = buf_puts(&uri, "?immutable=1");
        return r < 0 ? NULL : buf_release_string(&uri);
}

/* Its mutexes, a sixth of the time of a walk, are left out: one thread at a time uses a run. */
static int open_connection(struct roast_run *run, const char *name, int flags)
{
        int rc;

        sqlite3_close(run->db);
        run->db = NULL;
        rc = sqlite3_open_v2(name, &run->db, flags | SQLITE_OPEN_NOMUTEX, NULL);
        return rc == SQLITE_OK ? sqlite3_busy_timeout(run->db, RUN_BUSY_MS) : rc;
}

/* The first statement makes SQLite read the file and open its journal. */
static int open_look(struct roast_run *run)
{
        return sqlite3_exec(run->db, "SELECT count(*) FROM sqlite_schema", NULL, NULL, NULL);
}

static int open_try(struct roast_run *run, const char *name, int flags)
{
        int rc = open_connection(run, name, flags);

        return rc == SQLITE_OK ? open_look(run) : rc;
}

static int open_fail_journal(const struct roast_run *run, const char *end,
                             struct roast_error *error)
{
        return roast_fail(error, ROAST_E_IO,
                          "%s: was not finished and has a journal (%s%s) that cannot be replayed"
                          " in a read-only directory: copy both files elsewhere",
                          run->path, run->path, end);
}

/* Without a log nobody writes; SQLite would leave an empty one beside the run. */
static int open_immutable(struct roast_run *run)
{
        ROAST_CLEANUP(cleanup_free) char *uri = open_immutable_uri(run->path);

        return uri ? open_try(run, uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI) : SQLITE_NOMEM;
}

static int open_database(struct roast_run *run, struct roast_error *error)
{
        int rc = open_connection(run, run->path, SQLITE_OPEN_READONLY), r;
        bool logged = false, begun = false;

        if (rc == SQLITE_CANTOPEN)
                return roast_fail(error, ROAST_E_IO, "%s: cannot be opened: %s", run->path,
                                  strerror(sqlite3_system_errno(run->db)));
        if (rc != SQLITE_OK)
                return run_fail_sqlite(run, rc, "cannot be opened", error);
        r = open_check_file(run, &logged, &begun, error);
        if (r >= 0 && logged)
                r = run_log_check(run->path, error);
        if (r < 0)
                return r;
        if (logged && begun && open_size_beside(run->path, "-wal") < 0)
                rc = open_immutable(run);
        else
                rc = open_look(run);
        /* A client that died within a commit to the finished file: only a writer takes it back. */
        if (rc == SQLITE_READONLY && open_size_beside(run->path, "-journal") > 0) {
                if (open_try(run, run->path, SQLITE_OPEN_READWRITE) != SQLITE_OK)
                        return open_fail_journal(run, "-journal", error);
                rc = open_try(run, run->path, SQLITE_OPEN_READONLY);
        }
        /* A WAL file in a directory where nothing can be created */
        if (rc == SQLITE_CANTOPEN || rc == SQLITE_READONLY) {
                if (open_size_beside(run->path, "-wal") > 0)
                        return open_fail_journal(run, "-wal", error);
                rc = open_immutable(run);
        }
        return rc == SQLITE_OK ? 0 : run_fail_sqlite(run, rc, "cannot be opened", error);
}

int roast_run_open(struct roast_run **ret, const char *path, struct roast_error *error)
{
        struct roast_run *run;
        int r;

        r = open_check_kind(path, error);
        if (r < 0)
                return r;
        run = calloc(1, sizeof(*run));
        if (run)
                run->path = strdup(path);
        r = run && run->path ? open_database(run, error) : roast_fail_nomem(error);
        if (r < 0) {
                roast_run_free(run);
                return r;
        }
        *ret = run;
        return 0;
}
