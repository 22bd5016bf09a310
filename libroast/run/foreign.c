/* Rows of an SQLite database that is not ours: see foreign.h. */

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "run/file.h"
#include "run/foreign.h"

struct foreign {
        sqlite3 *db;
        const char *path;
        const char *kind;
};

static int foreign_fail(const struct foreign *db, struct roast_error *error)
{
        int rc = sqlite3_errcode(db->db), refused = run_refused_read(db->db);

        if (rc == SQLITE_NOMEM)
                return roast_fail_nomem(error);
        if (rc == SQLITE_IOERR || (rc == SQLITE_CORRUPT && refused))
                return roast_fail(error, ROAST_E_IO, "%s: cannot be read: %s", db->path,
                                  refused ? strerror(refused) : sqlite3_errmsg(db->db));
        return roast_fail(error, rc == SQLITE_CORRUPT ? ROAST_E_CORRUPT : ROAST_E_FORMAT,
                          "%s: cannot be read as %s: %s", db->path, db->kind,
                          sqlite3_errmsg(db->db));
}

int foreign_open(struct foreign **ret, const char *path, const char *kind,
                 struct roast_error *error)
{
        struct foreign *db;
        struct stat st;
        int rc, r = 0;

        if (stat(path, &st) < 0 || !S_ISREG(st.st_mode))
                return 0;
        db = calloc(1, sizeof(*db));
        if (!db)
                return roast_fail_nomem(error);
        db->path = path;
        db->kind = kind;
        rc = sqlite3_open_v2(path, &db->db, SQLITE_OPEN_READONLY, NULL);
        if (rc == SQLITE_OK)
                rc = sqlite3_busy_timeout(db->db, RUN_BUSY_MS);
        if (rc == SQLITE_OK) {
                *ret = db;
                return 1;
        }
        if (rc == SQLITE_NOMEM || rc == SQLITE_IOERR)
                r = foreign_fail(db, error);
        foreign_close(db);
        return r;
}

/* Closing the file ourselves would end the locks of this process. */
void foreign_close(struct foreign *db)
{
        if (!db)
                return;
        sqlite3_close(db->db);
        free(db);
}

int foreign_has_tables(struct foreign *db, const char *const *names, size_t n,
                       struct roast_error *error)
{
        sqlite3_stmt *statement = NULL;
        size_t found = 0;
        int rc;

        rc = sqlite3_prepare_v2(db->db, "SELECT 1 FROM sqlite_schema WHERE type='table' AND name=?",
                                -1, &statement, NULL);
        for (size_t i = 0; i < n && rc == SQLITE_OK; i++) {
                rc = sqlite3_bind_text(statement, 1, names[i], -1, SQLITE_STATIC);
                if (rc == SQLITE_OK)
                        found += sqlite3_step(statement) == SQLITE_ROW;
                rc = sqlite3_reset(statement);
        }
        if (rc == SQLITE_NOMEM || (rc != SQLITE_OK && run_refused_read(db->db))) {
                sqlite3_finalize(statement);
                return foreign_fail(db, error);
        }
        sqlite3_finalize(statement);
        return rc == SQLITE_OK && found == n;
}

int foreign_query(struct foreign_rows *rows, struct foreign *db, const char *sql,
                  const char *parameter, struct roast_error *error)
{
        int rc;

        *rows = (struct foreign_rows){ .db = db };
        rc = sqlite3_prepare_v2(db->db, sql, -1, &rows->statement, NULL);
        if (rc == SQLITE_OK && parameter)
                rc = sqlite3_bind_text(rows->statement, 1, parameter, -1, SQLITE_STATIC);
        if (rc != SQLITE_OK)
                return foreign_fail(db, error);
        rows->n = (size_t)sqlite3_column_count(rows->statement);
        return rows->n <= FOREIGN_COLUMNS_MAX ? 0 : ROAST_E_INVALID;
}

int foreign_next(struct foreign_rows *rows, struct roast_error *error)
{
        int rc = sqlite3_step(rows->statement);

        if (rc != SQLITE_ROW)
                return rc == SQLITE_DONE ? 0 : foreign_fail(rows->db, error);
        run_read_values(rows->statement, 0, rows->values, rows->n);
        for (size_t i = 0; i < rows->n; i++) /* one that had to be converted, without memory */
                if (rows->values[i].type == RUN_STRING && !rows->values[i].data)
                        return roast_fail_nomem(error);
        return 1;
}

void foreign_end(struct foreign_rows *rows)
{
        sqlite3_finalize(rows->statement);
        rows->statement = NULL;
}
