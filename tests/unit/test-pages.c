/* run/pages: the rows that SQLite gives, from tables of every shape, and nothing worse than an
 * error from damaged ones */

#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alloc.h"
#include "folder.h"
#include "roast-error.h"
#include "run/file.h"
#include "run/pages.h"

#define COLUMNS 6

static uint64_t random_state;

static uint64_t rnd(uint64_t n)
{
        random_state ^= random_state << 13;
        random_state ^= random_state >> 7;
        random_state ^= random_state << 17;
        return random_state % n;
}

static void exec(sqlite3 *db, const char *sql)
{
        assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
}

static sqlite3 *open_db(const char *path)
{
        sqlite3 *db;

        assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
        return db;
}

/* Every type, every width of an integer, and strings that fill several pages */
static void bind_random(sqlite3_stmt *stmt, int place, uint64_t longest)
{
        static char text[70000];
        uint64_t bits = rnd(65);
        int64_t integer = (int64_t)(bits ? rnd(UINT64_MAX) >> (64 - bits) : 0);
        int len = (int)rnd(rnd(20) ? 40 : longest);

        for (int i = 0; i < len; i++)
                text[i] = (char)('a' + rnd(26));
        switch (rnd(6)) {
        case 0:
                sqlite3_bind_null(stmt, place);
                break;
        case 1:
                sqlite3_bind_double(stmt, place, (double)integer / 3);
                break;
        case 2:
                sqlite3_bind_text(stmt, place, text, len, SQLITE_TRANSIENT);
                break;
        case 3:
                sqlite3_bind_blob(stmt, place, text, len, SQLITE_TRANSIENT);
                break;
        default:
                sqlite3_bind_int64(stmt, place, rnd(2) ? integer : -integer);
                break;
        }
}

static void add_rows(sqlite3 *db, int n, uint64_t longest)
{
        sqlite3_stmt *stmt;

        exec(db, "BEGIN");
        assert_int_equal(
                sqlite3_prepare_v2(db, "INSERT INTO t VALUES(NULL,?,?,?,?,?,?)", -1, &stmt, NULL),
                SQLITE_OK);
        for (int i = 0; i < n; i++) {
                for (int j = 1; j <= COLUMNS; j++)
                        bind_random(stmt, j, longest);
                assert_int_equal(sqlite3_step(stmt), SQLITE_DONE);
                sqlite3_reset(stmt);
        }
        sqlite3_finalize(stmt);
        exec(db, "COMMIT");
}

static sqlite3 *new_db(const char *path, int page_size)
{
        char sql[64];
        sqlite3 *db;

        unlink(path);
        db = open_db(path);
        snprintf(sql, sizeof(sql), "PRAGMA page_size=%d", page_size);
        exec(db, sql);
        exec(db, "CREATE TABLE other(x); CREATE TABLE t(id INTEGER PRIMARY KEY,a,b,c,d,e,f)");
        return db;
}

static void assert_same(const struct run_value *a, const struct run_value *b)
{
        assert_int_equal(a->type, b->type);
        switch (a->type) {
        case RUN_INT:
                assert_int_equal(a->integer, b->integer);
                break;
        case RUN_REAL:
                assert_memory_equal(&a->real, &b->real, sizeof(a->real));
                break;
        case RUN_STRING:
        case RUN_BYTES:
                assert_int_equal(a->len, b->len);
                if (a->len)
                        assert_memory_equal(a->data, b->data, a->len);
                break;
        case RUN_NULL:
                break;
        }
}

/* Walks t both ways; returns the number of rows. */
static int64_t compare_walks(sqlite3 *db)
{
        struct run_value values[COLUMNS], expected[COLUMNS];
        struct pages *pages;
        sqlite3_stmt *stmt;
        int64_t n = 0, id;

        exec(db, "BEGIN");
        assert_int_equal(sqlite3_prepare_v2(db, "SELECT * FROM t ORDER BY id", -1, &stmt, NULL),
                         SQLITE_OK);
        assert_int_equal(pages_open(&pages, db, "t"), 1);
        while (sqlite3_step(stmt) == SQLITE_ROW) {
                size_t columns = (size_t)sqlite3_column_count(stmt) - 1;

                assert_int_equal(pages_next(pages, &id, values, columns), 1);
                assert_int_equal(id, sqlite3_column_int64(stmt, 0));
                run_read_values(stmt, 1, expected, columns);
                for (size_t i = 0; i < columns; i++)
                        assert_same(&values[i], &expected[i]);
                n++;
        }
        assert_int_equal(pages_next(pages, &id, values, COLUMNS), 0);
        pages_free(pages);
        sqlite3_finalize(stmt);
        exec(db, "COMMIT");
        return n;
}

static void test_rows_are_those_of_sqlite(void **state)
{
        static const int page_sizes[] = { 512, 1024, 4096, 65536 };
        static const int n_rows[] = { 0, 1, 7, 3000 };

        random_state = 1;
        for (size_t i = 0; i < 4; i++)
                for (size_t j = 0; j < 4; j++) {
                        sqlite3 *db = new_db(folder_path(state, "rows.db"), page_sizes[i]);

                        add_rows(db, n_rows[j], 70000);
                        assert_int_equal(compare_walks(db), n_rows[j]);
                        sqlite3_close(db);
                }
}

/* Lengths at which a row begins to go on in another page */
static void test_rows_at_the_edge_of_a_page(void **state)
{
        sqlite3 *db = new_db(folder_path(state, "edge.db"), 512);

        for (int i = 400; i < 1700; i++) {
                char sql[96];

                snprintf(sql, sizeof(sql), "INSERT INTO t(a) VALUES(zeroblob(%d))", i);
                exec(db, sql);
                if (i == 400)
                        exec(db, "BEGIN");
        }
        exec(db, "COMMIT");
        assert_int_equal(compare_walks(db), 1300);
        sqlite3_close(db);
}

static void test_gaps_and_late_columns(void **state)
{
        sqlite3 *db;

        random_state = 2;
        db = new_db(folder_path(state, "gaps.db"), 1024);
        add_rows(db, 2000, 3000);
        exec(db, "DELETE FROM t WHERE id%3=1 OR id BETWEEN 500 AND 900");
        exec(db, "ALTER TABLE t DROP COLUMN f; ALTER TABLE t ADD COLUMN g");
        add_rows(db, 100, 3000);
        assert_true(compare_walks(db) > 1000);
        sqlite3_close(db);
}

static void test_left_to_sqlite(void **state)
{
        sqlite3 *db = new_db(folder_path(state, "wal.db"), 4096);
        struct pages *pages = NULL;

        assert_int_equal(pages_open(&pages, db, "t"), 0); /* nothing holds the lock */
        exec(db, "PRAGMA journal_mode=WAL; BEGIN");
        assert_int_equal(pages_open(&pages, db, "t"), 0);
        exec(db, "COMMIT");
        sqlite3_close(db);
        db = new_db(":memory:", 4096);
        exec(db, "BEGIN");
        assert_int_equal(pages_open(&pages, db, "t"), 0);
        sqlite3_close(db);
        assert_null(pages);
}

/* As far as it goes: the number of rows, or an error */
static int64_t walk(sqlite3 *db)
{
        struct run_value values[COLUMNS];
        struct pages *pages;
        int64_t n = 0, id;
        int r;

        r = pages_open(&pages, db, "t");
        if (r <= 0)
                return r;
        while ((r = pages_next(pages, &id, values, COLUMNS)) > 0 && n < 100000)
                n++;
        pages_free(pages);
        return r < 0 ? r : n;
}

/* Bytes are changed behind SQLite's back, all over the pages of t. */
static void test_damage(void **state)
{
        const char *path = folder_path(state, "damaged.db");
        int n_refused = 0, fd;
        struct stat st;
        sqlite3 *db;

        random_state = 3;
        db = new_db(path, 512);
        add_rows(db, 200, 2000);
        fd = open(path, O_RDWR);
        assert_true(fd >= 0);
        exec(db, "BEGIN; SELECT count(*) FROM sqlite_schema");
        for (int i = 0; i < 20000; i++) {
                off_t at = 1024 + (off_t)rnd(rnd(2) ? 4096 : 60000);
                uint8_t was, is = (uint8_t)rnd(256);
                int64_t n;

                if (pread(fd, &was, 1, at) != 1)
                        continue;
                assert_int_equal(pwrite(fd, &is, 1, at), 1);
                n = walk(db);
                assert_true(n >= 0 || n == ROAST_E_CORRUPT);
                assert_true(n < 100000);
                n_refused += n < 0;
                assert_int_equal(pwrite(fd, &was, 1, at), 1);
        }
        assert_true(n_refused > 500);
        assert_int_equal(walk(db), 200);
        assert_int_equal(fstat(fd, &st), 0);
        for (off_t size = st.st_size - 512; size > 1024; size -= 512) {
                assert_int_equal(ftruncate(fd, size), 0);
                assert_int_equal(walk(db), ROAST_E_CORRUPT);
        }
        exec(db, "COMMIT");
        sqlite3_close(db);
        close(fd);
}

static void test_no_memory(void **state)
{
        sqlite3 *db = new_db(folder_path(state, "memory.db"), 512);
        int64_t n = ROAST_E_NOMEM;
        long count;

        random_state = 4;
        add_rows(db, 300, 2000);
        for (count = 0; n < 0; count++) {
                if (sqlite3_get_autocommit(db)) /* without memory SQLite ends a transaction */
                        exec(db, "BEGIN");
                alloc_fail_after(count);
                n = walk(db);
                alloc_fail_after(-1);
                assert_true(n == 300 || n == ROAST_E_NOMEM || n == ROAST_E_IO);
        }
        assert_int_equal(n, 300);
        assert_true(count > 5);
        exec(db, "COMMIT");
        sqlite3_close(db);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(test_rows_are_those_of_sqlite, folder_make,
                                                folder_remove),
                cmocka_unit_test_setup_teardown(test_rows_at_the_edge_of_a_page, folder_make,
                                                folder_remove),
                cmocka_unit_test_setup_teardown(test_gaps_and_late_columns, folder_make,
                                                folder_remove),
                cmocka_unit_test_setup_teardown(test_left_to_sqlite, folder_make, folder_remove),
                cmocka_unit_test_setup_teardown(test_damage, folder_make, folder_remove),
                cmocka_unit_test_setup_teardown(test_no_memory, folder_make, folder_remove),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
