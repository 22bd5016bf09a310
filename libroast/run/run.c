/* What writing and reading a run share: its end, its messages */

#include <stdlib.h>
#include <string.h>

#include "run/file.h"
#include "run/memory.h"
#include "util/size.h"

const char *run_label(const struct roast_run *run)
{
        return run->path ? run->path : run->source ? run->source : "this run";
}

const char *roast_run_path(const struct roast_run *run)
{
        return run->path ? run->path : run->source;
}

int run_refused_read(sqlite3 *db)
{
        static const int files[] = { SQLITE_FCNTL_FILE_POINTER, SQLITE_FCNTL_JOURNAL_POINTER };

        for (size_t i = 0; db && i < ROAST_ARRAY_SIZE(files); i++) {
                sqlite3_file *file = NULL;
                int number = 0;

                if (sqlite3_file_control(db, "main", files[i], &file) == SQLITE_OK && file &&
                    file->pMethods &&
                    file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &number) ==
                            SQLITE_OK &&
                    number)
                        return number;
        }
        return 0;
}

int run_fail_sqlite(struct roast_run *run, int rc, const char *what, struct roast_error *error)
{
        const char *reason = run->db ? sqlite3_errmsg(run->db) : sqlite3_errstr(rc);
        int number = (rc & 0xff) == SQLITE_CORRUPT ? run_refused_read(run->db) : 0;

        if (number)
                return roast_fail(error, ROAST_E_IO, "%s: %s: %s", run_label(run), what,
                                  strerror(number));
        switch (rc & 0xff) {
        case SQLITE_NOMEM:
                return roast_fail_nomem(error);
        case SQLITE_NOTADB:
                return roast_fail(error, ROAST_E_FORMAT, "%s: is not a run file", run_label(run));
        case SQLITE_CORRUPT:
        case SQLITE_ERROR: /* a table or column that should be there is not */
                return roast_fail(error, ROAST_E_CORRUPT, "%s: is damaged (%s)", run_label(run),
                                  reason);
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
                if (run->writable)
                        return roast_fail(error, ROAST_E_STATE,
                                          "%s: cannot be written while another process reads it",
                                          run_label(run));
                return roast_fail(error, ROAST_E_STATE,
                                  "%s: is being written where files cannot be shared (a network"
                                  " file system?): try again when the run has finished",
                                  run_label(run));
        default:
                return roast_fail(error, ROAST_E_IO, "%s: %s: %s", run_label(run), what, reason);
        }
}

int run_exec(struct roast_run *run, const char *sql, struct roast_error *error)
{
        int rc = sqlite3_exec(run->db, sql, NULL, NULL, NULL);

        return rc == SQLITE_OK ? 0 : run_fail_sqlite(run, rc, "failed", error);
}

void roast_run_free(struct roast_run *run)
{
        if (!run)
                return;
        for (size_t i = 0; i < RUN_N_TABLES; i++) {
                sqlite3_finalize(run->tables[i].insert);
                seal_free(run->tables[i].seal);
        }
        sqlite3_close(run->db);
        memory_free(run->memory);
        run_seen_deinit(&run->seen);
        run_clocks_deinit(&run->clocks);
        intern_deinit(&run->texts);
        free(run->path);
        free(run->source);
        free(run->about_id);
        free(run->about_name);
        free(run->about_outcome);
        free(run->about_error);
        free(run);
}
