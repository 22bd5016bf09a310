#pragma once
/*
 * Rows of an SQLite database that is not ours, as another program's monitoring
 *
 *     r = foreign_open(&db, path, "Parsl's monitoring.db", error);
 *     r = foreign_query(&rows, db, "SELECT ... WHERE run_id=?1", id, error);
 *     while (r >= 0 && (r = foreign_next(&rows, error)) > 0)
 *             use(rows.values[0]);
 *     foreign_end(&rows);
 *     foreign_close(db);
 */

#include "run/run.h"

#define FOREIGN_COLUMNS_MAX 16

struct foreign;

struct foreign_rows {
        struct foreign *db;
        struct sqlite3_stmt *statement;
        size_t n;
        struct run_value values[FOREIGN_COLUMNS_MAX]; /* until the next step; strings end in NUL */
};

/* Opens a file for reading: 1, or 0 where it is none or no database. `kind` is for messages. */
int foreign_open(struct foreign **ret, const char *path, const char *kind,
                 struct roast_error *error);
void foreign_close(struct foreign *db);
/* Whether the n tables are there: 1 or 0, or an error if that cannot be said. */
int foreign_has_tables(struct foreign *db, const char *const *names, size_t n,
                       struct roast_error *error);
/* parameter is ?1 of the statement, or NULL. Whatever it returns, foreign_end() has to follow. */
int foreign_query(struct foreign_rows *rows, struct foreign *db, const char *sql,
                  const char *parameter, struct roast_error *error);
/* The next row: 1, or 0 behind the last. */
int foreign_next(struct foreign_rows *rows, struct roast_error *error);
void foreign_end(struct foreign_rows *rows);

/* A string, or NULL where the value is none */
static inline const char *foreign_text(const struct run_value *value)
{
        return value->type == RUN_STRING ? value->data : NULL;
}
