/*
 * Walks over the tables of a run: see run.h.
 *
 * Those of a run in memory are all that was committed. Those of a file come from
 * SQLite or from its pages, and are compared with their seals.
 */

#include <stdlib.h>
#include <string.h>

#include "run/file.h"
#include "run/memory.h"
#include "run/pages.h"
#include "util/cleanup.h"
#include "util/size.h"

/* Of a run in a file */
struct scan_file {
        sqlite3_stmt *rows;  /* NULL: the file is older than the table */
        struct pages *pages; /* where they are read without SQLite */
        sqlite3_stmt *seals;
        struct seal *seal; /* NULL: a skim */
        uint64_t hash;     /* what it should be */
};

int run_begin(struct roast_run *run, struct roast_error *error)
{
        int r = 0;

        if (!sqlite3_get_autocommit(run->db)) /* a view that could not be ended, without memory */
                r = run_exec(run, "COMMIT", error);
        return r < 0 ? r : run_exec(run, "BEGIN", error);
}

int run_view_begin(struct roast_run *run, struct roast_error *error)
{
        int r;

        if (run->db && run->n_views == 0 && !run->in_transaction) {
                r = run_begin(run, error);
                if (r < 0)
                        return r;
        }
        run->n_views++;
        return 0;
}

void run_view_end(struct roast_run *run)
{
        if (--run->n_views == 0 && run->db && !run->in_transaction)
                (void)run_exec(run, "COMMIT", NULL);
}

static int scan_corrupt(struct run_scan *scan, const char *what, struct roast_error *error)
{
        return roast_fail(error, ROAST_E_CORRUPT, "%s: is damaged (table %s: %s)",
                          run_label(scan->run), run_tables[scan->table].name, what);
}

/* Steps to the next seal; without one, no further row is allowed. */
static int scan_next_seal(struct run_scan *scan, struct roast_error *error)
{
        struct scan_file *file = scan->file;
        int rc = sqlite3_step(file->seals);

        if (rc == SQLITE_ROW) {
                int64_t last_id = sqlite3_column_int64(file->seals, 0);

                if (last_id <= scan->sealed_id)
                        return scan_corrupt(scan, "its seals are out of order", error);
                scan->sealed_id = last_id;
                file->hash = (uint64_t)sqlite3_column_int64(file->seals, 1);
                return 1;
        }
        if (rc != SQLITE_DONE)
                return run_fail_sqlite(scan->run, rc, "cannot be read", error);
        return 0;
}

/* The columns that we know stand first, in our order; a file may have fewer of them, or more. */
static int scan_check_columns(struct run_scan *scan, struct roast_error *error)
{
        const struct run_table_info *info = &run_tables[scan->table];
        const char *at = info->columns;

        scan->n = (size_t)sqlite3_column_count(scan->file->rows) - 1;
        if (scan->n > ROAST_ARRAY_SIZE(scan->values))
                return scan_corrupt(scan, "too many columns", error);
        for (size_t i = 0; i < scan->n && i < info->n_columns; i++) {
                const char *name = sqlite3_column_name(scan->file->rows, (int)i + 1);
                size_t len = strcspn(at, ",");

                if (!name)
                        return roast_fail_nomem(error);
                if (strlen(name) != len || memcmp(name, at, len) != 0)
                        return scan_corrupt(scan, "its columns are not as they should be", error);
                at += len + (at[len] == ',');
        }
        return 0;
}

/* Whether a table is not there because the file is older than it; otherwise that is damage. */
static int scan_is_older(const struct run_scan *scan, struct roast_error *error)
{
        const struct run_table_info *info = &run_tables[scan->table];
        sqlite3_stmt *stmt = NULL;
        bool older = false;
        int rc;

        if (info->since == 0)
                return 0;
        rc = sqlite3_prepare_v2(scan->run->db,
                                "SELECT user_version FROM pragma_user_version WHERE NOT EXISTS"
                                " (SELECT 1 FROM sqlite_schema WHERE name=?)",
                                -1, &stmt, NULL);
        if (rc == SQLITE_OK)
                rc = sqlite3_bind_text(stmt, 1, info->name, -1, SQLITE_STATIC);
        if (rc == SQLITE_OK)
                rc = sqlite3_step(stmt);
        if (rc == SQLITE_ROW)
                older = sqlite3_column_int(stmt, 0) < RUN_MAJOR * 1000 + info->since;
        sqlite3_finalize(stmt);
        if (rc != SQLITE_ROW && rc != SQLITE_DONE)
                return run_fail_sqlite(scan->run, rc, "cannot be read", error);
        return older;
}

/* How long the first n names of a list are */
static size_t scan_names_len(const char *names, size_t n)
{
        size_t len = 0;

        for (size_t i = 0; i < n; i++)
                len += strcspn(names + len, ",") + (i + 1 < n);
        return len;
}

static int scan_prepare_sql(struct run_scan *scan, const struct buf *sql, struct roast_error *error)
{
        int rc;

        sqlite3_finalize(scan->file->rows);
        scan->file->rows = NULL;
        rc = sqlite3_prepare_v2(scan->run->db, (const char *)sql->data, (int)sql->len,
                                &scan->file->rows, NULL);
        return rc == SQLITE_OK ? 0 : run_fail_sqlite(scan->run, rc, "cannot be read", error);
}

/* All that the file has: the seals are over them, be they more or fewer than we know. */
static int scan_prepare_all(struct run_scan *scan, struct roast_error *error)
{
        ROAST_CLEANUP(buf_deinit) struct buf sql = BUF_INIT;
        int r;

        if (buf_printf(&sql, "SELECT * FROM %s ORDER BY id", run_tables[scan->table].name) < 0)
                return roast_fail_nomem(error);
        r = scan_prepare_sql(scan, &sql, error);
        return r < 0 ? r : scan_check_columns(scan, error);
}

/* Fewer of them, from any row on */
static int scan_prepare_some(struct run_scan *scan, size_t n, struct roast_error *error)
{
        ROAST_CLEANUP(buf_deinit) struct buf sql = BUF_INIT;
        const struct run_table_info *info = &run_tables[scan->table];
        int r;

        if (n < scan->n)
                scan->n = n;
        if (buf_printf(&sql, "SELECT id,%.*s FROM %s WHERE id>? ORDER BY id",
                       (int)scan_names_len(info->columns, scan->n), info->columns, info->name) < 0)
                return roast_fail_nomem(error);
        r = scan_prepare_sql(scan, &sql, error);
        if (r >= 0)
                run_scan_seek(scan, 1);
        return r;
}

static int scan_fail_pages(struct run_scan *scan, int r, struct roast_error *error)
{
        if (r == ROAST_E_NOMEM)
                return roast_fail_nomem(error);
        if (r == ROAST_E_IO)
                return roast_fail(error, r, "%s: cannot be read", run_label(scan->run));
        return scan_corrupt(scan, "a page is not as it should be", error);
}

/* The writer's own rows may not be in the file yet. */
static int scan_open_pages(struct run_scan *scan, struct roast_error *error)
{
        const struct run_table_info *info = &run_tables[scan->table];
        int r;

        if (!scan->file->rows || !info->large || scan->run->writable)
                return 0;
        r = pages_open(&scan->file->pages, scan->run->db, info->name);
        return r < 0 ? scan_fail_pages(scan, r, error) : 0;
}

/* n: of a skim, how many columns it asks for */
static int scan_prepare(struct run_scan *scan, size_t n, struct roast_error *error)
{
        struct scan_file *file = scan->file;
        int r = scan_is_older(scan, error), rc;

        if (r == 0)
                r = scan_prepare_all(scan, error);
        if (r == 0 && file->rows && !file->seal)
                r = scan_prepare_some(scan, n, error);
        if (r == 0)
                r = scan_open_pages(scan, error);
        if (r < 0)
                return r;
        rc = sqlite3_prepare_v2(scan->run->db,
                                file->seal ? "SELECT last_id,hash FROM seal WHERE tbl=? ORDER BY id"
                                           : "SELECT max(last_id) FROM seal WHERE tbl=?",
                                -1, &file->seals, NULL);
        if (rc == SQLITE_OK)
                rc = sqlite3_bind_int(file->seals, 1, (int)scan->table);
        return rc == SQLITE_OK ? 0 : run_fail_sqlite(scan->run, rc, "cannot be read", error);
}

/* Whether rows come from memory, and there is nothing more to prepare */
static bool scan_init(struct run_scan *scan, struct roast_run *run, enum run_table table, size_t n)
{
        memset(scan, 0, sizeof(*scan));
        scan->run = run;
        scan->table = table;
        if (!run->memory)
                return false;
        scan->sealed_id = run->tables[table].sealed_id;
        scan->n = n < run_tables[table].n_columns ? n : run_tables[table].n_columns;
        return true;
}

int run_scan_begin(struct run_scan *scan, struct roast_run *run, enum run_table table,
                   struct roast_error *error)
{
        int r;

        if (scan_init(scan, run, table, SIZE_MAX))
                return 0;
        scan->file = calloc(1, sizeof(*scan->file));
        if (scan->file)
                scan->file->seal = seal_new(table);
        if (!scan->file || !scan->file->seal)
                return roast_fail_nomem(error);
        r = scan_prepare(scan, 0, error);
        return r < 0 ? r : scan_next_seal(scan, error);
}

int run_scan_skim(struct run_scan *scan, struct roast_run *run, enum run_table table, size_t n,
                  struct roast_error *error)
{
        int r, rc;

        if (scan_init(scan, run, table, n))
                return 0;
        scan->file = calloc(1, sizeof(*scan->file));
        if (!scan->file)
                return roast_fail_nomem(error);
        r = scan_prepare(scan, n, error);
        if (r < 0)
                return r;
        rc = sqlite3_step(scan->file->seals);
        if (rc != SQLITE_ROW)
                return run_fail_sqlite(run, rc, "cannot be read", error);
        scan->sealed_id = sqlite3_column_int64(scan->file->seals, 0); /* 0 where there is none */
        return 0;
}

void run_scan_seek(struct run_scan *scan, int64_t id)
{
        struct scan_file *file = scan->file;

        scan->id = id - 1;
        if (!file)
                return;
        pages_free(file->pages);
        file->pages = NULL;
        if (!file->rows)
                return;
        sqlite3_reset(file->rows);
        sqlite3_bind_int64(file->rows, 1, scan->id);
}

void run_scan_end(struct run_scan *scan)
{
        struct scan_file *file = scan->file;

        if (!file)
                return;
        sqlite3_finalize(file->rows);
        sqlite3_finalize(file->seals);
        pages_free(file->pages);
        seal_free(file->seal);
        free(file);
        scan->file = NULL;
}

/* One look at each column: the connection has no mutex, for its run is used by one thread at a
 * time. */
void run_read_values(sqlite3_stmt *stmt, int first, struct run_value *values, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                struct run_value *value = &values[i];
                sqlite3_value *column = sqlite3_column_value(stmt, first + (int)i);

                *value = (struct run_value){ 0 };
                switch (sqlite3_value_type(column)) {
                case SQLITE_INTEGER:
                        value->type = RUN_INT;
                        value->integer = sqlite3_value_int64(column);
                        break;
                case SQLITE_FLOAT:
                        value->type = RUN_REAL;
                        value->real = sqlite3_value_double(column);
                        break;
                case SQLITE_TEXT:
                        value->type = RUN_STRING;
                        value->data = sqlite3_value_text(column);
                        value->len = (size_t)sqlite3_value_bytes(column);
                        break;
                case SQLITE_BLOB:
                        value->type = RUN_BYTES;
                        value->data = sqlite3_value_blob(column);
                        value->len = (size_t)sqlite3_value_bytes(column);
                        break;
                default:
                        break;
                }
        }
}

/* At the last row of a seal: the hash must be the one that was written with it. */
static int scan_check_seal(struct run_scan *scan, struct roast_error *error)
{
        struct scan_file *file = scan->file;

        if (seal_hash(file->seal) != file->hash)
                return scan_corrupt(scan, "its content does not match its checksum", error);
        seal_restart(file->seal, file->hash);
        return scan_next_seal(scan, error);
}

/* The next row, with the number that it has: 1, or 0 behind the last */
static int scan_next_row(struct run_scan *scan, int64_t *id, struct roast_error *error)
{
        struct scan_file *file = scan->file;
        int rc, r;

        if (file->pages) {
                r = pages_next(file->pages, id, scan->values, scan->n);
                return r < 0 ? scan_fail_pages(scan, r, error) : r;
        }
        rc = file->rows ? sqlite3_step(file->rows) : SQLITE_DONE;
        if (rc == SQLITE_DONE)
                return 0;
        if (rc != SQLITE_ROW)
                return run_fail_sqlite(scan->run, rc, "cannot be read", error);
        *id = sqlite3_column_int64(file->rows, 0);
        run_read_values(file->rows, 1, scan->values, scan->n); /* behind the id */
        return 1;
}

static int scan_next_of_file(struct run_scan *scan, struct roast_error *error)
{
        struct seal *seal = scan->file->seal;
        int64_t id = 0;
        int r = scan_next_row(scan, &id, error);

        if (r < 0)
                return r;
        if (r > 0 && (scan->run->in_transaction || !seal) && scan->id >= scan->sealed_id)
                return 0;
        if (r == 0)
                return scan->id >= scan->sealed_id ? 0
                                                   : scan_corrupt(scan, "rows are missing", error);
        if (id != scan->id + 1)
                return scan_corrupt(scan, "rows are missing", error);
        scan->id++;
        if (scan->id > scan->sealed_id)
                return scan_corrupt(scan, "rows without a seal", error);
        if (!seal)
                return 1;
        if (seal_note(seal, scan->values, scan->n) < 0)
                return roast_fail_nomem(error);
        seal_add(seal);
        if (scan->id == scan->sealed_id) {
                r = scan_check_seal(scan, error);
                if (r < 0)
                        return r;
        }
        return 1;
}

int run_scan_next(struct run_scan *scan, struct roast_error *error)
{
        if (scan->file)
                return scan_next_of_file(scan, error);
        if (scan->id >= scan->sealed_id)
                return 0;
        memory_read(scan->run->memory, scan->table, ++scan->id, scan->values, scan->n);
        return 1;
}
