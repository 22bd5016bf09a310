/*
 * Writing a run
 *
 * Everything is appended inside one transaction that roast_run_commit() closes,
 * together with a seal for each table it touched. In memory there is nothing to
 * seal, and nothing to lose: a commit is how far readers see.
 */

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "probe/readings.h"
#include "record/chunk.h"
#include "run/file.h"
#include "run/memory.h"
#include "util/cleanup.h"

/* File systems on which shared memory between processes does not work */
static bool write_on_network(const char *path)
{
        static const long network[] = { NFS_SUPER_MAGIC,
                                        AFS_SUPER_MAGIC,
                                        SMB_SUPER_MAGIC,
                                        FUSE_SUPER_MAGIC,
                                        0xFE534D42 /* SMB2 */,
                                        0xFF534D42 /* CIFS */,
                                        0x6B414653 /* kAFS */ };
        struct statfs fs;

        if (statfs(path, &fs) < 0)
                return false;
        for (size_t i = 0; i < sizeof(network) / sizeof(network[0]); i++)
                if (((unsigned long)fs.f_type & 0xffffffff) == (unsigned long)network[i])
                        return true;
        return false;
}

static int write_create_view(struct buf *sql, const struct run_view_info *view)
{
        const struct run_table_info *table = &run_tables[view->table];
        int r = buf_printf(sql, "CREATE VIEW %s AS SELECT id", view->name);

        for (size_t i = 0; i < table->n_columns && r >= 0; i++) {
                const struct roast_column_info *column = &table->infos[i];
                size_t len = strlen(column->name);

                if (column->type == ROAST_COLUMN_TEXT)
                        r = buf_printf(sql, ",(SELECT value FROM text WHERE id=%s) AS %s",
                                       column->stored, column->name);
                else
                        r = buf_printf(sql, ",%s", column->name);
                if (r >= 0 && len > 3 && !strcmp(column->name + len - 3, "_ns"))
                        r = buf_printf(sql, ",%s/1e9 AS %.*ss", column->name, (int)len - 2,
                                       column->name);
        }
        return r < 0 ? r : buf_printf(sql, " FROM %s%s;", table->name, view->where);
}

static int write_create_tables(struct roast_run *run, struct roast_error *error)
{
        ROAST_CLEANUP(buf_deinit) struct buf sql = BUF_INIT;
        int r;

        r = buf_printf(&sql, "BEGIN; PRAGMA application_id=%d; PRAGMA user_version=%d;",
                       RUN_APPLICATION_ID, RUN_USER_VERSION);
        for (size_t i = 1; i < RUN_N_TABLES && r >= 0; i++)
                r = buf_printf(&sql, "CREATE TABLE %s(id INTEGER PRIMARY KEY,%s);",
                               run_tables[i].name, run_tables[i].columns);
        for (size_t i = 0; i < RUN_N_VIEWS && r >= 0; i++)
                r = write_create_view(&sql, &run_views[i]);
        if (r >= 0)
                r = buf_puts(&sql, "CREATE TABLE seal(id INTEGER PRIMARY KEY,tbl,last_id,utc_ns,"
                                   "hash); COMMIT;");
        if (r >= 0)
                r = buf_put_u8(&sql, 0);
        if (r < 0)
                return roast_fail_nomem(error);
        return run_exec(run, (const char *)sql.data, error);
}

static int write_prepare_tables(struct roast_run *run, struct roast_error *error)
{
        for (unsigned int i = 1; i < RUN_N_TABLES; i++) {
                struct run_writer_table *table = &run->tables[i];
                ROAST_CLEANUP(buf_deinit) struct buf sql = BUF_INIT;
                int r, rc;

                r = buf_printf(&sql, "INSERT INTO %s VALUES(?", run_tables[i].name);
                for (size_t j = 0; j < run_tables[i].n_columns && r >= 0; j++)
                        r = buf_puts(&sql, ",?");
                if (r >= 0)
                        r = buf_append(&sql, ")", 2);
                table->seal = seal_new(i);
                table->hash = i;
                if (r < 0 || !table->seal)
                        return roast_fail_nomem(error);
                rc = sqlite3_prepare_v3(run->db, (const char *)sql.data, -1,
                                        SQLITE_PREPARE_PERSISTENT, &table->insert, NULL);
                if (rc != SQLITE_OK)
                        return run_fail_sqlite(run, rc, "cannot be written", error);
        }
        return 0;
}

/* The file is made here, so that nobody else can read it and none is overwritten. */
int run_create_file(const char *path, struct roast_error *error)
{
        int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

        if (fd < 0)
                return roast_fail(error, errno == EEXIST ? ROAST_E_STATE : ROAST_E_IO,
                                  "%s: cannot be created: %s", path, strerror(errno));
        close(fd);
        return 0;
}

/* Beside the file what SQLite may have left: it would be replayed over the next of that name. */
void run_remove_files(const char *path)
{
        static const char *const ends[] = { "-journal", "-wal", "-shm" };

        for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
                ROAST_CLEANUP(cleanup_free) char *name = NULL;

                if (asprintf(&name, "%s%s", path, ends[i]) < 0)
                        name = NULL;
                else
                        unlink(name);
        }
        unlink(path);
}

static int write_set_up(struct roast_run *run, const char *journal, struct roast_error *error)
{
        int r;

        if (write_on_network(run->path)) {
                r = run_exec(run, "PRAGMA locking_mode=EXCLUSIVE;", error);
                if (r < 0)
                        return r;
        }
        /* before the log begins: the file itself says from the start what it is */
        r = write_create_tables(run, error);
        if (r >= 0)
                r = run_exec(run, journal, error);
        return r < 0 ? r : write_prepare_tables(run, error);
}

static int write_open(struct roast_run *run, const char *journal, struct roast_error *error)
{
        int rc;

        if (!run->path) {
                run->memory = memory_new();
                return run->memory ? 0 : roast_fail_nomem(error);
        }
        rc = sqlite3_open_v2(run->path, &run->db,
                             SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                             NULL);
        return rc == SQLITE_OK ? write_set_up(run, journal, error)
                               : run_fail_sqlite(run, rc, "cannot be created", error);
}

static int write_create(struct roast_run **ret, const char *path, const char *journal,
                        struct roast_error *error)
{
        struct roast_run *run;
        int r = 0;

        if (path && (r = run_create_file(path, error)) < 0)
                return r;
        run = calloc(1, sizeof(*run));
        if (run && path)
                run->path = strdup(path);
        if (!run || (path && !run->path)) {
                r = roast_fail_nomem(error);
        } else {
                run->writable = true;
                r = write_open(run, journal, error);
        }
        if (r < 0) {
                roast_run_free(run);
                if (path)
                        run_remove_files(path);
                return r;
        }
        *ret = run;
        return 0;
}

int roast_run_create(struct roast_run **ret, const char *path, struct roast_error *error)
{
        return write_create(ret, path, "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
                            error);
}

int run_create_copy(struct roast_run **ret, const char *path, struct roast_error *error)
{
        return write_create(ret, path, "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;", error);
}

/* Takes the seals of a failed commit out again, before anything is added behind them. */
static int write_unseal(struct roast_run *run, struct roast_error *error)
{
        int r;

        if (!run->sealing)
                return 0;
        r = run_exec(run, "ROLLBACK TO sealing; RELEASE sealing", error);
        if (r >= 0)
                run->sealing = false;
        return r;
}

static int write_begin(struct roast_run *run, struct roast_error *error)
{
        int r;

        if (!run->writable)
                return roast_fail(error, ROAST_E_STATE, "%s: is open for reading only",
                                  run_label(run));
        if (run->in_transaction)
                return write_unseal(run, error);
        r = run->db ? run_begin(run, error) : 0;
        if (r < 0)
                return r;
        run->in_transaction = true;
        return 0;
}

static int write_bind(sqlite3_stmt *stmt, int at, const struct run_value *value)
{
        switch (value->type) {
        case RUN_INT:
                return sqlite3_bind_int64(stmt, at, value->integer);
        case RUN_REAL:
                return sqlite3_bind_double(stmt, at, value->real);
        case RUN_STRING:
                return sqlite3_bind_text64(stmt, at, value->data, value->len, SQLITE_STATIC,
                                           SQLITE_UTF8);
        case RUN_BYTES:
                return sqlite3_bind_blob64(stmt, at, value->data ? value->data : "", value->len,
                                           SQLITE_STATIC);
        case RUN_NULL:
                break;
        }
        return sqlite3_bind_null(stmt, at);
}

/* After SQLite rolled back by itself: nothing was added since the last commit. */
static void write_take_back(struct roast_run *run)
{
        for (size_t i = 1; i < RUN_N_TABLES; i++) {
                struct run_writer_table *table = &run->tables[i];

                table->last_id = table->sealed_id;
                seal_restart(table->seal, table->hash);
        }
        intern_truncate(&run->texts, (size_t)run->tables[RUN_TEXT].last_id);
        run_seen_truncate(&run->seen, run->seen.n_committed);
        run->in_transaction = run->sealing = false;
}

static int write_row(struct roast_run *run, struct run_writer_table *table,
                     const struct run_value *values, size_t n, struct roast_error *error)
{
        int rc, r;

        if (seal_note(table->seal, values, n) < 0)
                return roast_fail_nomem(error);
        rc = sqlite3_bind_int64(table->insert, 1, table->last_id + 1);
        for (size_t i = 0; i < n && rc == SQLITE_OK; i++)
                rc = write_bind(table->insert, (int)i + 2, &values[i]);
        if (rc == SQLITE_OK)
                rc = sqlite3_step(table->insert);
        sqlite3_reset(table->insert);
        if (rc != SQLITE_DONE) {
                r = run_fail_sqlite(run, rc, "cannot be written", error);
                if (sqlite3_get_autocommit(run->db))
                        write_take_back(run);
                return r;
        }
        seal_add(table->seal);
        return 0;
}

int run_insert(struct roast_run *run, enum run_table table, const struct run_value *values,
               size_t n, struct roast_error *error)
{
        int r;

        r = write_begin(run, error);
        if (r < 0)
                return r;
        if (!run->memory)
                r = write_row(run, &run->tables[table], values, n, error);
        else if (memory_add(run->memory, table, values, n) < 0)
                r = roast_fail_nomem(error);
        if (r >= 0)
                run->tables[table].last_id++;
        return r;
}

int64_t run_text(struct roast_run *run, const char *string, size_t len, struct roast_error *error)
{
        struct run_value value = run_string(string, len);
        int64_t number;
        int r;

        if (!string)
                return 0;
        number = intern_put(&run->texts, string, len);
        if (number < 0)
                return roast_fail_nomem(error);
        if (number == run->tables[RUN_TEXT].last_id) {
                r = run_insert(run, RUN_TEXT, &value, 1, error);
                if (r < 0) {
                        intern_truncate(&run->texts, (size_t)run->tables[RUN_TEXT].last_id);
                        return r;
                }
        }
        return number + 1;
}

static int write_add_seals(struct roast_run *run, struct roast_error *error)
{
        int64_t now_ns = probe_utc_ns();
        sqlite3_stmt *stmt;
        int rc;

        rc = sqlite3_prepare_v2(run->db,
                                "INSERT INTO seal(tbl,last_id,utc_ns,hash) VALUES(?,?,?,?)", -1,
                                &stmt, NULL);
        for (int i = 1; i < RUN_N_TABLES && rc == SQLITE_OK; i++) {
                const struct run_writer_table *table = &run->tables[i];

                if (table->last_id == table->sealed_id)
                        continue;
                sqlite3_bind_int64(stmt, 1, i);
                sqlite3_bind_int64(stmt, 2, table->last_id);
                if (now_ns >= 0) /* else it stays NULL */
                        sqlite3_bind_int64(stmt, 3, now_ns);
                sqlite3_bind_int64(stmt, 4, (int64_t)seal_hash(table->seal));
                sqlite3_step(stmt);
                rc = sqlite3_reset(stmt);
        }
        sqlite3_finalize(stmt);
        return rc == SQLITE_OK ? 0 : run_fail_sqlite(run, rc, "cannot be written", error);
}

/* After a commit: the next seals begin where these ended. */
static void write_keep(struct roast_run *run)
{
        for (size_t i = 1; i < RUN_N_TABLES; i++) {
                struct run_writer_table *table = &run->tables[i];

                if (table->last_id == table->sealed_id)
                        continue;
                if (table->seal) {
                        table->hash = seal_hash(table->seal);
                        seal_restart(table->seal, table->hash);
                }
                table->sealed_id = table->last_id;
        }
        run->seen.n_committed = run->seen.n;
        run->in_transaction = run->sealing = false;
}

static int write_commit(struct roast_run *run, struct roast_error *error)
{
        int r;

        r = write_unseal(run, error);
        if (r >= 0)
                r = run_exec(run, "SAVEPOINT sealing", error);
        if (r >= 0) {
                run->sealing = true;
                r = write_add_seals(run, error);
        }
        if (r >= 0)
                r = run_exec(run, "COMMIT", error);
        if (r >= 0)
                return r;
        if (sqlite3_get_autocommit(run->db))
                write_take_back(run);
        else /* the rows stay, and are sealed by the next commit */
                (void)write_unseal(run, NULL);
        return r;
}

int roast_run_commit(struct roast_run *run, struct roast_error *error)
{
        int r;

        if (!run->in_transaction)
                return 0;
        r = run->memory ? 0 : write_commit(run, error);
        if (r >= 0)
                write_keep(run);
        return r;
}

int roast_run_finish(struct roast_run *run, struct roast_error *error)
{
        int r = roast_run_commit(run, error);

        if (r < 0 || run->memory)
                return r;
        r = run_exec(run, "PRAGMA wal_checkpoint(TRUNCATE);", error);
        if (r < 0)
                return r;
        /* a reader may still be there: then the file stays in WAL mode, and is whole */
        (void)run_exec(run, "PRAGMA journal_mode=DELETE;", NULL);
        /* from now on others may read, also on a network; the lock goes with the next look */
        (void)run_exec(run, "PRAGMA locking_mode=NORMAL; SELECT count(*) FROM sqlite_schema;",
                       NULL);
        /* without a log, readers and what is still added have to wait for each other */
        sqlite3_busy_timeout(run->db, RUN_BUSY_MS);
        return 0;
}
