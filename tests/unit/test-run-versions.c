/* run/: files of other versions and kinds, and damage */

#include "unit.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "folder.h"
#include "run/run.h"
#include "runs.h"
#include "util/cleanup.h"
#include "util/size.h"

/* ---- versions and other files ---- */

static void test_a_newer_major_version_is_refused(void **state)
{
        const char *path = finished_run(state, "a.roast");

        sql(path, "PRAGMA user_version=2003");
        assert_refused(path, ROAST_E_VERSION, "newer version (format 2.3");
}

static struct run_value value_of(sqlite3_stmt *stmt, int at)
{
        struct run_value value = { 0 };

        switch (sqlite3_column_type(stmt, at)) {
        case SQLITE_INTEGER:
                return run_int(sqlite3_column_int64(stmt, at));
        case SQLITE_FLOAT:
                return run_real(sqlite3_column_double(stmt, at));
        case SQLITE_TEXT:
                value.type = RUN_STRING;
                break;
        case SQLITE_BLOB:
                value.type = RUN_BYTES;
                break;
        default:
                return value;
        }
        value.data = sqlite3_column_blob(stmt, at);
        value.len = (size_t)sqlite3_column_bytes(stmt, at);
        return value;
}

/* One seal over all rows and columns of a table, as docs/format.md has it, in place of its seals */
static void reseal(const char *path, enum run_table table)
{
        ROAST_CLEANUP(cleanup_free) char *query = NULL;
        ROAST_CLEANUP(cleanup_free) char *seals = NULL;
        struct seal *seal = seal_new(table);
        sqlite3_stmt *stmt = NULL;
        long long n = 0;
        sqlite3 *db;

        assert_true(asprintf(&query, "SELECT * FROM %s ORDER BY id", run_tables[table].name) > 0);
        assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
        assert_int_equal(sqlite3_prepare_v2(db, query, -1, &stmt, NULL), SQLITE_OK);
        for (; sqlite3_step(stmt) == SQLITE_ROW; n++) {
                struct run_value values[RUN_COLUMNS_MAX];
                int n_values = sqlite3_column_count(stmt) - 1;

                for (int i = 0; i < n_values; i++)
                        values[i] = value_of(stmt, i + 1);
                assert_int_equal(seal_note(seal, values, (size_t)n_values), 0);
                seal_add(seal);
        }
        sqlite3_finalize(stmt);
        sqlite3_close(db);
        assert_true(asprintf(&seals,
                             "DELETE FROM seal WHERE tbl=%d;"
                             "INSERT INTO seal(tbl,last_id,utc_ns,hash) VALUES(%d,%lld,0,%lld);",
                             table, table, n, (long long)seal_hash(seal)) > 0);
        seal_free(seal);
        sql(path, seals);
}

static void count_rows(const char *table, int64_t rows, void *context)
{
        (void)context;
        if (!strcmp(table, "task") || !strcmp(table, "activity"))
                assert_int_equal(rows, 0);
}

static void test_a_newer_minor_version_is_read(void **state)
{
        const char *path = finished_run(state, "a.roast");
        ROAST_CLEANUP(cleanup_free) char *before = summary_of_file(path);
        ROAST_CLEANUP(cleanup_free) char *after = NULL;

        sql(path, "PRAGMA user_version=1007;"
                  "ALTER TABLE chunk ADD COLUMN energy_j; UPDATE chunk SET energy_j=5;"
                  "ALTER TABLE section ADD COLUMN energy_j; UPDATE section SET energy_j=2;"
                  "ALTER TABLE span ADD COLUMN host DEFAULT 'x';"
                  "CREATE TABLE gpu(id INTEGER PRIMARY KEY, watts); INSERT INTO gpu VALUES(1,2);"
                  "INSERT INTO seal(tbl,last_id,utc_ns,hash) VALUES(99,1,0,0);");
        reseal(path, RUN_CHUNK);
        reseal(path, RUN_SECTION);
        reseal(path, RUN_SPAN);
        after = summary_of_file(path);
        assert_string_equal(after, before);
}

static void test_an_older_minor_version_lacks_columns(void **state)
{
        const char *path = finished_run(state, "a.roast");
        ROAST_CLEANUP(cleanup_free) char *before = NULL;
        ROAST_CLEANUP(cleanup_free) char *after = NULL;

        sql(path, "UPDATE chunk SET selected_uncompressed_bytes=NULL, cut_bytes=NULL,"
                  " ahead_bytes=NULL, unused_bytes=NULL, unused_branches_text=NULL,"
                  " rss_delta_bytes=NULL, stated_branches_ppb=NULL, stated_bytes_ppb=NULL;");
        reseal(path, RUN_CHUNK);
        before = summary_of_file(path);
        sql(path, "DROP VIEW chunks; DROP VIEW sections;"
                  "ALTER TABLE chunk DROP COLUMN stated_bytes_ppb;"
                  "ALTER TABLE chunk DROP COLUMN stated_branches_ppb;"
                  "ALTER TABLE chunk DROP COLUMN rss_delta_bytes;"
                  "ALTER TABLE chunk DROP COLUMN unused_branches_text;"
                  "ALTER TABLE chunk DROP COLUMN unused_bytes;"
                  "ALTER TABLE chunk DROP COLUMN ahead_bytes;"
                  "ALTER TABLE chunk DROP COLUMN cut_bytes;"
                  "ALTER TABLE chunk DROP COLUMN selected_uncompressed_bytes;");
        reseal(path, RUN_CHUNK);
        after = summary_of_file(path);
        assert_string_equal(after, before);
}

static void test_a_table_that_an_older_file_lacks_is_empty(void **state)
{
        const char *path = finished_run(state, "a.roast");
        ROAST_CLEANUP(cleanup_free) char *after = NULL;
        struct roast_run *run;

        sql(path, "DROP VIEW tasks; DROP TABLE task; DELETE FROM seal WHERE tbl=9;"
                  "DROP VIEW activities; DROP TABLE activity; PRAGMA user_version=1000;");
        after = summary_of_file(path);
        assert_has(after, "num_chunks 1 ");
        run = open_run(path);
        assert_int_equal(roast_run_check(run, count_rows, NULL, NULL), 0);
        roast_run_free(run);
        sql(path, "PRAGMA user_version=1001;");
        assert_refused(path, ROAST_E_CORRUPT, "no such table");
        sql(path, "PRAGMA user_version=1000;"
                  "INSERT INTO seal(tbl,last_id,utc_ns,hash) VALUES(9,1,0,0);");
        assert_refused(path, ROAST_E_CORRUPT, "table task: rows are missing");
        sql(path,
            "DELETE FROM seal WHERE tbl=9; DROP VIEW worker_events; DROP TABLE worker_event;");
        assert_refused(path, ROAST_E_CORRUPT, "no such table");
}

static void test_a_column_that_no_seal_covers_is_damage(void **state)
{
        const char *path = finished_run(state, "a.roast");

        sql(path, "ALTER TABLE chunk ADD COLUMN energy_j;");
        assert_refused(path, ROAST_E_CORRUPT, "table chunk: its content");
}

static void test_chunks_of_other_minor_versions_are_read_back(void **state)
{
        const char *path = finished_run(state, "a.roast");
        struct roast_run *run;
        void *before, *after;
        size_t before_len, after_len;

        run = open_run(path);
        assert_int_equal(roast_run_encode_chunks(run, &before, &before_len, NULL), 0);
        roast_run_free(run);
        sql(path, "ALTER TABLE chunk ADD COLUMN energy_j; UPDATE chunk SET energy_j=5;"
                  "ALTER TABLE section ADD COLUMN energy_j; UPDATE section SET energy_j=2;"
                  "ALTER TABLE branch ADD COLUMN energy_j; UPDATE branch SET energy_j=2;");
        reseal(path, RUN_CHUNK);
        reseal(path, RUN_SECTION);
        reseal(path, RUN_BRANCH);
        run = open_run(path);
        assert_int_equal(roast_run_encode_chunks(run, &after, &after_len, NULL), 0);
        roast_run_free(run);
        assert_int_equal(after_len, before_len);
        assert_memory_equal(after, before, after_len);
        free(before);
        free(after);
}

static void test_a_version_before_the_first_is_damage(void **state)
{
        const char *path = finished_run(state, "a.roast");

        sql(path, "PRAGMA user_version=0");
        assert_refused(path, ROAST_E_CORRUPT, "format version 0");
}

static void test_what_is_no_run_is_refused_by_its_kind(void **state)
{
        char zeros[512] = "";

        assert_refused(folder_path(state, "missing.roast"), ROAST_E_NOENT, "No such file");
        assert_refused(*state, ROAST_E_FORMAT, "directory");
        folder_put(folder_path(state, "empty"), "", 0);
        assert_refused(folder_path(state, "empty"), ROAST_E_CORRUPT, "is empty");
        folder_put(folder_path(state, "short"), "SQLite format 3", 16);
        assert_refused(folder_path(state, "short"), ROAST_E_FORMAT, "not a run file");
        folder_put(folder_path(state, "zeros"), zeros, sizeof(zeros));
        assert_refused(folder_path(state, "zeros"), ROAST_E_FORMAT, "not a run file");
        assert_int_equal(mkfifo(folder_path(state, "fifo"), 0600), 0);
        assert_refused(folder_path(state, "fifo"), ROAST_E_FORMAT, "regular file");
        sql(folder_path(state, "other.db"), "CREATE TABLE chunk(id); PRAGMA user_version=1000;");
        assert_refused(folder_path(state, "other.db"), ROAST_E_FORMAT, "not a run file");
        sql(folder_path(state, "fake.db"),
            "CREATE TABLE chunk(id); PRAGMA user_version=1000; PRAGMA application_id=0x524F5354;");
        assert_refused(folder_path(state, "fake.db"), ROAST_E_CORRUPT, "damaged");
}

static int is_refused(const char *path)
{
        struct roast_error error = { 0 };
        struct roast_run *run;

        return roast_run_open(&run, path, &error) == ROAST_E_IO && strstr(error.message, path) &&
                               strstr(error.message, "Permission denied")
                       ? 0
                       : 1;
}

static void test_a_file_that_may_not_be_read_is_refused(void **state)
{
        const char *path = finished_run(state, "a.roast");

        assert_int_equal(chmod(path, 0), 0);
        assert_int_equal(chmod(*state, 0755), 0);
        as_nobody(is_refused, path);
}

/* ---- damage ---- */

/* SQLite's own check notices none of these. */
static void test_content_that_was_changed_is_noticed(void **state)
{
        static const char *const changes[] = {
                "UPDATE fact SET value=value+1 WHERE name='report.entries'",
                "UPDATE fact SET value=CAST(value AS TEXT) WHERE name='report.entries'",
                "UPDATE text SET value='DYJetz' WHERE value='DYJets'",
                "UPDATE chunk SET wall_ns=NULL WHERE id=3",
                "UPDATE span SET value=value*2 WHERE id=1",
                "DELETE FROM chunk WHERE id=(SELECT max(id) FROM chunk)",
                "DELETE FROM chunk WHERE id=1",
                "DELETE FROM section",
                "INSERT INTO span VALUES(11,'execute','p','thread-cpu','seconds',1.0)",
                "UPDATE fact SET id=id+100 WHERE id=(SELECT max(id) FROM fact)",
                "DELETE FROM seal WHERE tbl=2",
                "DELETE FROM seal WHERE id=(SELECT max(id) FROM seal WHERE tbl=2)",
                "UPDATE seal SET hash=hash+1 WHERE tbl=3",
                "UPDATE seal SET last_id=last_id+1 WHERE tbl=6",
                "UPDATE seal SET last_id=0 WHERE tbl=6",
                "ALTER TABLE chunk RENAME COLUMN wall_ns TO x; "
                "ALTER TABLE chunk RENAME COLUMN cpu_ns TO wall_ns; "
                "ALTER TABLE chunk RENAME COLUMN x TO cpu_ns",
        };

        for (size_t i = 0; i < ROAST_ARRAY_SIZE(changes); i++) {
                const char *path = finished_run(state, "a.roast");

                sql(path, changes[i]);
                assert_refused(path, ROAST_E_CORRUPT, "damaged");
                unlink(path);
        }
}

static void test_a_section_of_no_chunk_is_noticed(void **state)
{
        static const char *const changes[] = {
                "UPDATE section SET chunk_id=0 WHERE id=2",
                "UPDATE branch SET chunk_id=1000 WHERE id=2",
        };

        for (size_t i = 0; i < ROAST_ARRAY_SIZE(changes); i++) {
                const char *path = finished_run(state, "a.roast");
                struct roast_error error = { 0 };
                struct roast_run *run;
                void *data;
                size_t len;

                sql(path, changes[i]);
                run = open_run(path);
                assert_int_equal(roast_run_encode_chunks(run, &data, &len, &error),
                                 ROAST_E_CORRUPT);
                assert_has(error.message, path);
                roast_run_free(run);
                unlink(path);
        }
}

static bool survives(const char *path, const char *expected)
{
        struct roast_error error = { 0 };
        ROAST_CLEANUP(cleanup_free) char *summary = try_summary_of_file(path, &error);

        if (!summary) {
                if (error.code >= 0 || !strstr(error.message, path))
                        fail_msg("%d: '%s'", error.code, error.message);
                return false;
        }
        assert_string_equal(summary, expected);
        return true;
}

static void test_a_file_cut_off_anywhere_is_refused(void **state)
{
        const char *path = finished_run(state, "a.roast");
        ROAST_CLEANUP(cleanup_free) char *expected = summary_of_file(path);

        for (off_t size = size_of(path) / 512 * 512; size >= 0; size -= 512) {
                if (size == size_of(path))
                        continue;
                assert_int_equal(truncate(path, size), 0);
                assert_false(survives(path, expected));
        }
}

static void test_a_flipped_bit_changes_no_figure(void **state)
{
        const char *path = finished_run(state, "a.roast");
        ROAST_CLEANUP(cleanup_free) char *expected = summary_of_file(path);
        ROAST_CLEANUP(cleanup_close) int fd = open(path, O_RDWR | O_CLOEXEC);
        long long bits = 8 * (long long)size_of(path), n = 0, refused = 0;

        /* all of SQLite's header, then a prime stride */
        for (long long bit = 0; bit < bits; bit += bit < 800 ? 1 : 457) {
                uint8_t byte, flipped;

                assert_int_equal(pread(fd, &byte, 1, bit / 8), 1);
                flipped = (uint8_t)(byte ^ 1u << bit % 8);
                assert_int_equal(pwrite(fd, &flipped, 1, bit / 8), 1);
                refused += !survives(path, expected);
                n++;
                assert_int_equal(pwrite(fd, &byte, 1, bit / 8), 1);
        }
        assert_true(refused > n / 10);
        assert_true(survives(path, expected));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, folder_make, folder_remove)

int main(void)
{
        const struct CMUnitTest tests[] = {
                TEST(test_a_newer_major_version_is_refused),
                TEST(test_a_newer_minor_version_is_read),
                TEST(test_an_older_minor_version_lacks_columns),
                TEST(test_a_table_that_an_older_file_lacks_is_empty),
                TEST(test_a_column_that_no_seal_covers_is_damage),
                TEST(test_chunks_of_other_minor_versions_are_read_back),
                TEST(test_a_version_before_the_first_is_damage),
                TEST(test_what_is_no_run_is_refused_by_its_kind),
                TEST(test_a_file_that_may_not_be_read_is_refused),
                TEST(test_content_that_was_changed_is_noticed),
                TEST(test_a_section_of_no_chunk_is_noticed),
                TEST(test_a_file_cut_off_anywhere_is_refused),
                TEST(test_a_flipped_bit_changes_no_figure),
        };

        return cmocka_run_group_tests_name("run-versions", tests, NULL, NULL);
}
