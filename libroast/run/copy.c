/*
 * Copies of a run: complete or not at all
 *
 * A copy is made under a temporary name beside the final one, so that giving it
 * that name cannot fail for the file system, and is on the disk before it gets it.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run/file.h"
#include "run/log.h"
#include "util/cleanup.h"

/*
 * The run itself would go on writing into the file that was replaced. A run under that name that
 * has a log: it would be replayed over whatever took its place.
 */
static int copy_check_unused(const struct roast_run *run, const char *path,
                             struct roast_error *error)
{
        struct stat st, own;
        int r;

        if (run->path && stat(run->path, &own) == 0 && stat(path, &st) == 0 &&
            st.st_dev == own.st_dev && st.st_ino == own.st_ino)
                return roast_fail(error, ROAST_E_STATE, "%s: is the run itself: it is not replaced",
                                  path);
        r = run_has_log(path);
        if (r < 0)
                return roast_fail_nomem(error);
        if (r == 0)
                return 0;
        return roast_fail(error, ROAST_E_STATE,
                          "%s: is a run that is being written, or was not finished: it is not"
                          " replaced",
                          path);
}

static int copy_sync_file(const char *path)
{
        ROAST_CLEANUP(cleanup_close) int fd = open(path, O_RDONLY | O_CLOEXEC);

        return fd < 0 || fsync(fd) < 0 ? -1 : 0;
}

/* Where the file system knows no such rename, a second name does the same. */
static int copy_rename_new(const char *from, const char *to)
{
        if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
                return 0;
        if (errno != EINVAL && errno != ENOSYS)
                return -1;
        return link(from, to) < 0 || unlink(from) < 0 ? -1 : 0;
}

/* SQLite says of a run that it is damaged when it is the copy that cannot be read again. */
static int copy_vacuum_into(struct roast_run *run, const char *path, struct roast_error *error)
{
        char *sql = sqlite3_mprintf("VACUUM INTO %Q", path);
        int rc = sql ? sqlite3_exec(run->db, sql, NULL, NULL, NULL) : SQLITE_NOMEM, r;

        sqlite3_free(sql);
        if (rc == SQLITE_OK)
                return 0;
        r = run_fail_sqlite(run, rc, "cannot be copied", error);
        if (r != ROAST_E_CORRUPT)
                return r;
        r = roast_run_check(run, NULL, NULL, error);
        return r < 0 ? r : roast_fail(error, ROAST_E_IO, "%s: the copy cannot be read again", path);
}

static int copy_table(struct roast_run *to, struct roast_run *from, enum run_table table,
                      struct roast_error *error)
{
        struct run_scan scan;
        int r;

        r = run_scan_begin(&scan, from, table, error);
        while (r >= 0 && (r = run_scan_next(&scan, error)) > 0) {
                /* the writer knows its strings by their numbers */
                if (table == RUN_TEXT && to->memory &&
                    intern_append(&to->texts, scan.values[0].data, scan.values[0].len) < 0)
                        r = roast_fail_nomem(error);
                if (r >= 0)
                        r = run_insert(to, table, scan.values, run_tables[table].n_columns, error);
        }
        run_scan_end(&scan);
        return r;
}

/* All rows but those of the tables whose bit is set */
static int copy_rows(struct roast_run *to, struct roast_run *from, unsigned int without,
                     struct roast_error *error)
{
        int r;

        r = run_view_begin(from, error);
        if (r < 0)
                return r;
        for (unsigned int i = 1; i < RUN_N_TABLES && r >= 0; i++)
                if (!(without >> i & 1))
                        r = copy_table(to, from, i, error);
        run_view_end(from);
        return r < 0 ? r : roast_run_commit(to, error);
}

static int copy_out_of_memory(struct roast_run *run, const char *path, struct roast_error *error)
{
        struct roast_run *file;
        int r;

        r = run_create_copy(&file, path, error);
        if (r < 0)
                return r;
        r = copy_rows(file, run, 0, error);
        roast_run_free(file);
        return r;
}

static int copy_write(struct roast_run *run, const char *path, struct roast_error *error)
{
        int r;

        if (run->memory)
                return copy_out_of_memory(run, path, error);
        r = run_create_file(path, error);
        return r < 0 ? r : copy_vacuum_into(run, path, error);
}

static int copy(struct roast_run *run, const char *path, bool replace, struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_free) char *temporary = NULL;
        int r;

        if (asprintf(&temporary, "%s.%ld.part", path, (long)getpid()) < 0) {
                temporary = NULL;
                return roast_fail_nomem(error);
        }
        unlink(temporary);
        r = copy_write(run, temporary, error);
        if (r >= 0 && (copy_sync_file(temporary) < 0 ||
                       (replace ? rename(temporary, path) : copy_rename_new(temporary, path)) < 0))
                r = roast_fail(error, errno == EEXIST ? ROAST_E_STATE : ROAST_E_IO,
                               "%s: cannot be created: %s", path, strerror(errno));
        if (r < 0)
                run_remove_files(temporary);
        return r;
}

int roast_run_copy(struct roast_run *run, const char *path, struct roast_error *error)
{
        int r;

        r = roast_run_commit(run, error);
        if (r >= 0)
                r = copy_check_unused(run, path, error);
        return r < 0 ? r : copy(run, path, true, error);
}

int roast_run_copy_new(struct roast_run *run, const char *path, struct roast_error *error)
{
        int r;

        r = roast_run_commit(run, error);
        if (r >= 0 && access(path, F_OK) == 0) /* said before the work is done, and after it */
                r = roast_fail(error, ROAST_E_STATE, "%s: is there already: it is not replaced",
                               path);
        return r < 0 ? r : copy(run, path, false, error);
}

/* The tables of a list of names, as bits */
static int copy_find_tables(const char *const *names, unsigned int *bits, struct roast_error *error)
{
        for (*bits = 0; names && *names; names++) {
                unsigned int i = 1;

                while (i < RUN_N_TABLES && strcmp(run_tables[i].name, *names) != 0)
                        i++;
                if (i == RUN_N_TABLES)
                        return roast_fail(error, ROAST_E_NOENT, "there is no table '%s'", *names);
                *bits |= 1u << i;
        }
        return 0;
}

int roast_run_copy_in_memory(struct roast_run **ret, struct roast_run *run,
                             const char *const *without, struct roast_error *error)
{
        struct roast_run *copy_run = NULL;
        unsigned int bits;
        int r;

        r = copy_find_tables(without, &bits, error);
        if (r >= 0)
                r = roast_run_commit(run, error);
        if (r >= 0)
                r = roast_run_create(&copy_run, NULL, error);
        if (r >= 0)
                r = copy_rows(copy_run, run, bits, error);
        if (r < 0) {
                roast_run_free(copy_run);
                return r;
        }
        *ret = copy_run;
        return 0;
}
