/* run/: what is written is read back, by whom, and what is refused */

#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "folder.h"
#include "run/run.h"
#include "sample.h"
#include "util/cleanup.h"
#include "util/size.h"

#define CHUNKS 40

static struct roast_run *create(const char *path)
{
        struct roast_error error = { 0 };
        struct roast_run *run = NULL;

        if (roast_run_create(&run, path, &error) < 0)
                fail_msg("%s", error.message);
        return run;
}

static struct roast_run *open_run(const char *path)
{
        struct roast_error error = { 0 };
        struct roast_run *run = NULL;

        if (roast_run_open(&run, path, &error) < 0)
                fail_msg("%s", error.message);
        return run;
}

static void fill(struct roast_run *run)
{
        struct roast_error error = { 0 };

        if (sample_fill(run, CHUNKS, &error) < 0)
                fail_msg("%s", error.message);
}

/* A finished run file */
static const char *finished_run(void **state, const char *name)
{
        const char *path = folder_path(state, name);
        struct roast_run *run = create(path);
        struct roast_error error = { 0 };

        fill(run);
        if (roast_run_finish(run, &error) < 0)
                fail_msg("%s", error.message);
        roast_run_free(run);
        return path;
}

/* The summary as text; NULL with the error set if there is none. */
static char *try_summary(struct roast_run *run, struct roast_error *error)
{
        struct roast_summary summary;
        char *text;

        if (roast_summary_of_run(&summary, run, error) < 0)
                return NULL;
        text = sample_dump(&summary);
        roast_summary_deinit(&summary);
        return text;
}

static char *summary_of(struct roast_run *run)
{
        struct roast_error error = { 0 };
        char *text = try_summary(run, &error);

        if (!text)
                fail_msg("%s", error.message);
        return text;
}

static char *try_summary_of_file(const char *path, struct roast_error *error)
{
        struct roast_run *run;
        char *text;

        if (roast_run_open(&run, path, error) < 0)
                return NULL;
        text = try_summary(run, error);
        roast_run_free(run);
        return text;
}

static char *summary_of_file(const char *path)
{
        struct roast_error error = { 0 };
        char *text = try_summary_of_file(path, &error);

        if (!text)
                fail_msg("%s", error.message);
        return text;
}

/* The file is refused, by open or by the first look at its figures, and the message names it. */
static void assert_refused(const char *path, int code, const char *words)
{
        struct roast_error error = { 0 };
        ROAST_CLEANUP(cleanup_free) char *text = try_summary_of_file(path, &error);

        assert_null(text);
        assert_int_equal(error.code, code);
        if (!strstr(error.message, path) || !strstr(error.message, words))
                fail_msg("'%s' lacks '%s'", error.message, words);
}

static void sql(const char *path, const char *statements)
{
        char *message = NULL;
        sqlite3 *db;

        assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
        if (sqlite3_exec(db, statements, NULL, NULL, &message) != SQLITE_OK)
                fail_msg("%s: %s", statements, message);
        sqlite3_close(db);
}

/* The first column of the first row, as an integer */
static long long sql_int(const char *path, const char *query)
{
        sqlite3_stmt *stmt = NULL;
        long long value;
        sqlite3 *db;

        assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
        if (sqlite3_prepare_v2(db, query, -1, &stmt, NULL) != SQLITE_OK)
                fail_msg("%s: %s", query, sqlite3_errmsg(db));
        assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
        value = sqlite3_column_int64(stmt, 0);
        sqlite3_finalize(stmt);
        sqlite3_close(db);
        return value;
}

static off_t size_of(const char *path)
{
        struct stat st;

        return stat(path, &st) < 0 ? -1 : st.st_size;
}

static size_t count_files(const char *directory)
{
        ROAST_CLEANUP(cleanup_free) char *command = NULL;
        ROAST_CLEANUP(cleanup_free) char *line = NULL;
        size_t n = 0, cap = 0;
        FILE *files;

        assert_true(asprintf(&command, "ls -A '%s'", directory) > 0);
        files = popen(command, "r");
        assert_non_null(files);
        while (getline(&line, &cap, files) > 0)
                n++;
        pclose(files);
        return n;
}

/* Runs a function in a child, as nobody where we are root; it returns 0 when all was well. */
static void as_nobody(int (*function)(const char *path), const char *path)
{
        pid_t pid = fork();
        int status;

        assert_true(pid >= 0);
        if (pid == 0) {
                if (getuid() == 0 && (setgid(65534) < 0 || setuid(65534) < 0))
                        _exit(100);
                _exit(function(path));
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
}

/* ---- writing and reading back ---- */

struct seen_facts {
        size_t n;
        struct roast_fact facts[32];
        char names[32][32];
        char texts[32][64];
};

static int see_fact(const struct roast_fact *fact, void *context)
{
        struct seen_facts *seen = context;

        seen->facts[seen->n] = *fact;
        snprintf(seen->names[seen->n], sizeof(seen->names[0]), "%s", fact->name);
        snprintf(seen->texts[seen->n], sizeof(seen->texts[0]), "%s", fact->text ? fact->text : "-");
        seen->n++;
        return 0;
}

static void test_facts_read_back_and_the_last_of_a_name_counts(void **state)
{
        struct roast_run *run = create(folder_path(state, "a.roast"));
        struct seen_facts seen = { 0 };

        assert_int_equal(roast_run_fact_int(run, "int", INT64_MIN, NULL), 0);
        assert_int_equal(roast_run_fact_real(run, "real", 0.1, NULL), 0);
        assert_int_equal(roast_run_fact_text(run, "text", "gr\xc3\xbc\xc3\x9f", NULL), 0);
        assert_int_equal(roast_run_fact_text(run, "empty", "", NULL), 0);
        assert_int_equal(roast_run_fact_absent(run, "absent", "nobody asked", NULL), 0);
        assert_int_equal(roast_run_commit(run, NULL), 0);
        assert_int_equal(roast_run_fact_int(run, "real", 7, NULL), 0);
        assert_int_equal(roast_run_fact_int(run, "absent", 8, NULL), 0);
        assert_int_equal(roast_run_fact_absent(run, "text", "forgotten", NULL), 0);
        assert_int_equal(roast_run_finish(run, NULL), 0);
        roast_run_free(run);

        run = open_run(folder_path(state, "a.roast"));
        assert_int_equal(roast_run_facts(run, see_fact, &seen, NULL), 0);
        roast_run_free(run);
        assert_int_equal(seen.n, 5);
        assert_string_equal(seen.names[0], "int");
        assert_int_equal(seen.facts[0].type, ROAST_FACT_INT);
        assert_true(seen.facts[0].integer == INT64_MIN);
        assert_int_equal(seen.facts[1].type, ROAST_FACT_INT);
        assert_int_equal(seen.facts[1].integer, 7);
        assert_int_equal(seen.facts[2].type, ROAST_FACT_ABSENT);
        assert_string_equal(seen.texts[2], "forgotten");
        assert_int_equal(seen.facts[3].type, ROAST_FACT_TEXT);
        assert_string_equal(seen.texts[3], "");
        assert_int_equal(seen.facts[4].integer, 8);
}

static void test_numbers_that_sqlite_does_not_keep_do_not_damage_a_run(void **state)
{
        const char *path = folder_path(state, "a.roast");
        struct roast_run *run = create(path);
        struct seen_facts seen = { 0 };
        ROAST_CLEANUP(cleanup_free) char *summary = NULL;

        assert_int_equal(roast_run_fact_real(run, "nan", (double)NAN, NULL), 0);
        assert_int_equal(roast_run_fact_real(run, "inf", (double)INFINITY, NULL), 0);
        assert_int_equal(roast_run_fact_real(run, "zero", -0.0, NULL), 0);
        assert_int_equal(roast_run_fact_real(run, "whole", 3.0, NULL), 0);
        assert_int_equal(roast_run_fact_real(run, "report.processtime", (double)NAN, NULL), 0);
        assert_int_equal(
                roast_run_add_span(run, "execute", "p", "thread-cpu", "seconds", (double)NAN, NULL),
                0);
        assert_int_equal(roast_run_finish(run, NULL), 0);
        roast_run_free(run);

        run = open_run(path);
        assert_int_equal(roast_run_facts(run, see_fact, &seen, NULL), 0);
        assert_int_equal(seen.facts[0].type, ROAST_FACT_ABSENT);
        assert_string_equal(seen.texts[0], "not a number");
        assert_true(isinf(seen.facts[1].real));
        assert_true(seen.facts[2].type == ROAST_FACT_REAL && seen.facts[2].real == 0);
        assert_true(seen.facts[3].type == ROAST_FACT_REAL && seen.facts[3].real == 3.0);
        summary = summary_of(run);
        roast_run_free(run);
}

/* Another program may seal what ours never writes. */
static void test_a_fact_of_another_shape_is_absent(void **state)
{
        static const struct run_value bytes = { .type = RUN_BYTES, .data = "xy", .len = 2 };
        struct roast_run *run = create(NULL);
        struct seen_facts seen = { 0 };
        ROAST_CLEANUP(cleanup_free) char *summary = NULL;

        (void)state;
        for (int i = 0; i < 2; i++) {
                struct run_value zero[] = { run_string("a\0bcdef", 7), run_int(i), { 0 } };
                struct run_value name[] = { run_string("processor.name", 14), bytes, bytes };

                assert_int_equal(run_insert(run, RUN_FACT, zero, 3, NULL), 0);
                assert_int_equal(run_insert(run, RUN_FACT, name, 3, NULL), 0);
                name[0] = bytes;
                assert_int_equal(run_insert(run, RUN_FACT, name, 3, NULL), 0);
        }
        assert_int_equal(roast_run_commit(run, NULL), 0);
        assert_int_equal(roast_run_facts(run, see_fact, &seen, NULL), 0);
        assert_int_equal(seen.n, 2);
        assert_int_equal(seen.facts[0].integer, 1);
        assert_int_equal(seen.facts[1].type, ROAST_FACT_ABSENT);
        summary = summary_of(run);
        roast_run_free(run);
}

static void test_what_is_known_about_a_run(void **state)
{
        struct roast_run *run = open_run(finished_run(state, "a.roast"));
        struct roast_run_about about;

        assert_int_equal(roast_run_about(run, &about, NULL), 0);
        assert_string_equal(about.id, "00112233445566778899aabbccddeeff");
        assert_string_equal(about.name, "sample");
        assert_string_equal(about.outcome, "finished");
        assert_null(about.error);
        assert_true(about.start_utc_ns == SAMPLE_START_UTC_NS);
        assert_true(about.end_utc_ns == SAMPLE_START_UTC_NS + 10 * SAMPLE_S);
        assert_string_equal(roast_run_path(run), folder_path(state, "a.roast"));
        roast_run_free(run);
}

static void test_a_run_without_an_end_is_unfinished(void **state)
{
        struct roast_run *run = create(folder_path(state, "a.roast"));
        struct roast_run_about about;

        assert_int_equal(sample_begin(run, NULL), 0);
        assert_int_equal(roast_run_fact_text(run, "run.outcome", "finished", NULL), 0);
        assert_int_equal(roast_run_commit(run, NULL), 0);
        assert_int_equal(roast_run_about(run, &about, NULL), 0);
        assert_null(about.outcome);
        assert_true(about.end_utc_ns == INT64_MIN);
        roast_run_free(run);
}

static void test_a_run_in_memory_has_the_same_figures(void **state)
{
        ROAST_CLEANUP(cleanup_free) char *in_memory = NULL;
        ROAST_CLEANUP(cleanup_free) char *on_disk = summary_of_file(finished_run(state, "a.roast"));
        struct roast_run *run = create(NULL);

        fill(run);
        assert_null(roast_run_path(run));
        in_memory = summary_of(run);
        assert_string_equal(in_memory, on_disk);
        assert_int_equal(roast_run_finish(run, NULL), 0);
        roast_run_free(run);
}

static void test_any_string_of_a_chunk_reads_back(void **state)
{
        static const struct {
                const char *data;
                size_t len;
        } names[] = { { "", 0 }, { "a\0b", 3 }, { "\xff\xfe", 2 }, { "'; DROP TABLE chunk", 19 } };
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;
        ROAST_CLEANUP(buf_deinit) struct buf bytes = BUF_INIT;
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary = { 0 };
        const char *path = folder_path(state, "a.roast");
        struct roast_run *run = create(path);

        chunk_table_init(&table);
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(names); i++) {
                assert_int_equal(chunk_table_add(&table), 0);
                assert_int_equal(
                        chunk_table_set_text(&table, i, CHUNK_DATASET, names[i].data, names[i].len),
                        0);
                assert_int_equal(
                        chunk_table_set_text(&table, i, CHUNK_CUSTOM, names[i].data, names[i].len),
                        0);
        }
        assert_int_equal(chunk_table_encode(&table, &bytes, NULL), 0);
        assert_int_equal(roast_run_add_chunks(run, bytes.data, bytes.len, NULL), 4);
        assert_int_equal(roast_run_finish(run, NULL), 0);
        roast_run_free(run);

        assert_int_equal(sql_int(path, "SELECT count(dataset) FROM chunks"), 4);
        assert_int_equal(sql_int(path, "SELECT length(custom) FROM chunk WHERE id=2"), 3);
        run = open_run(path);
        assert_int_equal(roast_summary_of_run(&summary, run, NULL), 0);
        assert_int_equal(summary.n_datasets, 4);
        assert_string_equal(summary.datasets[0].name, "");
        assert_string_equal(summary.datasets[3].name, "'; DROP TABLE chunk");
        roast_run_free(run);
}

/* Workers send what they like: no sum of it may overflow. */
static void test_chunks_of_extremes_are_summed_without_overflow(void **state)
{
        static const int64_t extremes[] = { INT64_MIN + 1, -1, 0, 1, INT64_MAX };
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;
        ROAST_CLEANUP(buf_deinit) struct buf bytes = BUF_INIT;
        ROAST_CLEANUP(cleanup_free) char *summary = NULL;
        struct roast_worker worker = { "w", NULL, INT64_MAX, INT64_MAX, INT64_MAX };
        int64_t values[SECTION_N_FIELDS];
        struct roast_run *run = create(NULL);

        (void)state;
        chunk_table_init(&table);
        for (size_t i = 0; i < 50; i++) {
                assert_int_equal(chunk_table_add(&table), 0);
                for (unsigned int j = 0; j < CHUNK_N_FIELDS; j++)
                        if (chunk_fields[j].type == CHUNK_TYPE_INT && j != CHUNK_OUTCOME)
                                chunk_table_set(&table, i, j, extremes[(i / 2 + i * j) % 5]);
                for (unsigned int j = 0; j < SECTION_N_FIELDS; j++)
                        values[j] = extremes[(i + j) % 5 ? 4 : 0];
                chunk_table_set(&table, i, CHUNK_OUTCOME, CHUNK_FINISHED);
                chunk_table_set(&table, i, CHUNK_THREAD, (int64_t)i); /* 50 attempts, not one */
                assert_int_equal(chunk_table_add_section(&table, "s", 1, values), 0);
        }
        assert_int_equal(chunk_table_encode(&table, &bytes, NULL), 0);
        assert_int_equal(roast_run_add_chunks(run, bytes.data, bytes.len, NULL), 50);
        assert_int_equal(
                roast_run_add_worker_event(run, INT64_MAX, ROAST_WORKER_CAME, &worker, NULL), 0);
        worker.name = "v";
        assert_int_equal(
                roast_run_add_worker_event(run, INT64_MIN, ROAST_WORKER_CAME, &worker, NULL), 0);
        assert_int_equal(roast_run_commit(run, NULL), 0);
        summary = summary_of(run);
        free(summary);
        assert_int_equal(roast_run_fact_int(run, "run.start_utc_ns", INT64_MIN + 1, NULL), 0);
        assert_int_equal(roast_run_fact_int(run, "run.end_utc_ns", INT64_MAX, NULL), 0);
        assert_int_equal(roast_run_commit(run, NULL), 0);
        summary = summary_of(run);
        roast_run_free(run);
}

static void test_the_views_show_strings_and_seconds(void **state)
{
        const char *path = finished_run(state, "a.roast");

        assert_int_equal(sql_int(path, "SELECT count(*) FROM chunks WHERE dataset='TTbar'"), 14);
        assert_int_equal(sql_int(path, "SELECT 100*sum(wall_s) FROM chunks WHERE id<3"), 101);
        assert_int_equal(sql_int(path, "SELECT count(*) FROM sections WHERE name='fill'"), CHUNKS);
        assert_int_equal(sql_int(path, "SELECT count(*) FROM branches WHERE bytes IS NULL"),
                         CHUNKS / 2);
        assert_int_equal(sql_int(path, "SELECT count(*) FROM worker_events WHERE host='node1'"), 2);
        assert_int_equal(sql_int(path, "SELECT value FROM facts WHERE name='report.chunks'"), 40);
        assert_int_equal(sql_int(path, "PRAGMA application_id"), 0x524F5354);
        assert_int_equal(sql_int(path, "PRAGMA user_version"), 1001);
}

static void test_damaged_chunk_records_add_nothing(void **state)
{
        struct roast_run *run = create(NULL);
        struct roast_error error = { 0 };
        ROAST_CLEANUP(cleanup_free) char *summary = NULL;

        (void)state;
        assert_int_equal(roast_run_add_chunks(run, "RC\x02\x00\x09\x05\x00", 7, &error),
                         ROAST_E_CORRUPT);
        assert_int_equal(roast_run_add_chunks(run, "", 0, &error), ROAST_E_FORMAT);
        assert_int_equal(roast_run_commit(run, NULL), 0);
        summary = summary_of(run);
        assert_non_null(strstr(summary, "num_successful_chunks 0 "));
        roast_run_free(run);
}

/* ---- the file ---- */

static void test_only_its_owner_may_read_a_run_file(void **state)
{
        mode_t before = umask(0);
        const char *path = finished_run(state, "a.roast");
        struct roast_run *run;
        struct stat st;

        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(st.st_mode & 07777, 0600);
        run = open_run(path);
        assert_int_equal(roast_run_copy(run, folder_path(state, "b.roast"), NULL), 0);
        assert_int_equal(stat(folder_path(state, "b.roast"), &st), 0);
        assert_int_equal(st.st_mode & 07777, 0600);
        roast_run_free(run);
        umask(before);
}

static void test_an_existing_file_is_not_touched(void **state)
{
        const char *path = folder_path(state, "a.roast");
        struct roast_error error = { 0 };
        struct roast_run *run = NULL;
        FILE *file = fopen(path, "w");

        assert_non_null(file);
        fputs("my thesis", file);
        fclose(file);
        assert_int_equal(roast_run_create(&run, path, &error), ROAST_E_STATE);
        assert_null(run);
        assert_non_null(strstr(error.message, path));
        assert_int_equal(size_of(path), 9);
}

static void test_a_run_that_cannot_be_created_leaves_nothing(void **state)
{
        const char *path = folder_path(state, "missing/a.roast");
        struct roast_error error = { 0 };
        struct roast_run *run = NULL;

        assert_int_equal(roast_run_create(&run, path, &error), ROAST_E_IO);
        assert_non_null(strstr(error.message, path));
        assert_int_equal(count_files(*state), 0);
}

static void test_a_reader_sees_what_is_committed_while_the_writer_goes_on(void **state)
{
        const char *path = folder_path(state, "a.roast");
        struct roast_run *writer = create(path), *reader;
        ROAST_CLEANUP(cleanup_free) char *before = NULL;
        ROAST_CLEANUP(cleanup_free) char *same = NULL;
        ROAST_CLEANUP(cleanup_free) char *after = NULL;

        assert_int_equal(sample_begin(writer, NULL), 0);
        assert_int_equal(roast_run_commit(writer, NULL), 0);
        reader = open_run(path);
        before = summary_of(reader);
        assert_int_equal(sample_add_chunks(writer, CHUNKS, NULL), CHUNKS);
        same = summary_of(reader);
        assert_string_equal(same, before);
        assert_int_equal(roast_run_commit(writer, NULL), 0);
        after = summary_of(reader);
        assert_non_null(strstr(after, "num_successful_chunks 1 "));
        roast_run_free(reader);
        roast_run_free(writer);
}

static void test_the_writer_itself_sees_what_is_committed(void **state)
{
        struct roast_run *run = create(NULL);
        ROAST_CLEANUP(cleanup_free) char *before = NULL;
        ROAST_CLEANUP(cleanup_free) char *same = NULL;

        (void)state;
        assert_int_equal(sample_begin(run, NULL), 0);
        assert_int_equal(roast_run_commit(run, NULL), 0);
        before = summary_of(run);
        assert_int_equal(sample_add_chunks(run, CHUNKS, NULL), CHUNKS);
        same = summary_of(run);
        assert_string_equal(same, before);
        roast_run_free(run);
}

static void test_a_reader_cannot_write(void **state)
{
        struct roast_run *run = open_run(finished_run(state, "a.roast"));
        struct roast_error error = { 0 };

        assert_int_equal(roast_run_fact_int(run, "x", 1, &error), ROAST_E_STATE);
        assert_int_equal(sample_add_chunks(run, 1, &error), ROAST_E_STATE);
        assert_int_equal(roast_run_commit(run, &error), 0);
        roast_run_free(run);
}

static void test_a_finished_run_is_one_file(void **state)
{
        finished_run(state, "a.roast");
        assert_int_equal(count_files(*state), 1);
}

static void test_a_run_finished_under_a_reader_is_whole(void **state)
{
        const char *path = folder_path(state, "a.roast");
        struct roast_run *writer = create(path), *reader;
        ROAST_CLEANUP(cleanup_free) char *expected = NULL;
        ROAST_CLEANUP(cleanup_free) char *summary = NULL;

        fill(writer);
        expected = summary_of(writer);
        reader = open_run(path);
        assert_int_equal(roast_run_finish(writer, NULL), 0);
        roast_run_free(writer);
        summary = summary_of(reader);
        assert_string_equal(summary, expected);
        roast_run_free(reader);
        free(summary);
        summary = summary_of_file(path);
        assert_string_equal(summary, expected);
}

static int opens(const char *path)
{
        struct roast_error error = { 0 };
        ROAST_CLEANUP(cleanup_free) char *summary = try_summary_of_file(path, &error);

        if (!summary)
                fprintf(stderr, "%s\n", error.message);
        return summary ? 0 : 1;
}

static int tells_of_a_journal(const char *path)
{
        struct roast_error error = { 0 };
        ROAST_CLEANUP(cleanup_free) char *summary = try_summary_of_file(path, &error);

        return !summary && error.code == ROAST_E_IO && strstr(error.message, "journal") ? 0 : 1;
}

static void test_a_finished_run_opens_from_a_read_only_directory(void **state)
{
        const char *path = finished_run(state, "a.roast");

        assert_int_equal(chmod(path, 0444), 0);
        assert_int_equal(chmod(*state, 0555), 0);
        as_nobody(opens, path);
}

/* Its mode says WAL, but there is no log: finished under a reader, then copied by cp. */
static void test_a_run_that_stayed_in_wal_mode_opens_from_a_read_only_directory(void **state)
{
        const char *path = finished_run(state, "a #1%20?.roast");

        sql(path, "PRAGMA journal_mode=WAL");
        assert_int_equal(count_files(*state), 1);
        assert_int_equal(chmod(path, 0444), 0);
        assert_int_equal(chmod(*state, 0555), 0);
        as_nobody(opens, path);
}

static void kill_after_commit(const char *path)
{
        pid_t pid = fork();
        int status;

        assert_true(pid >= 0);
        if (pid == 0) {
                struct roast_run *run;

                if (roast_run_create(&run, path, NULL) < 0 || sample_begin(run, NULL) < 0 ||
                    roast_run_commit(run, NULL) < 0 || sample_add_chunks(run, CHUNKS, NULL) < 0 ||
                    roast_run_commit(run, NULL) < 0 || sample_end(run, NULL) < 0)
                        _exit(1);
                kill(getpid(), SIGKILL);
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFSIGNALED(status));
}

static void test_a_killed_run_opens_with_what_was_committed(void **state)
{
        const char *path = folder_path(state, "a.roast");
        struct roast_run *run;
        struct roast_run_about about;
        ROAST_CLEANUP(cleanup_free) char *summary = NULL;
        ROAST_CLEANUP(cleanup_free) char *expected = NULL;

        kill_after_commit(path);
        run = open_run(path);
        assert_int_equal(roast_run_about(run, &about, NULL), 0);
        assert_null(about.outcome);
        summary = summary_of(run);
        roast_run_free(run);

        run = create(NULL);
        assert_int_equal(sample_begin(run, NULL), 0);
        assert_int_equal(sample_add_chunks(run, CHUNKS, NULL), CHUNKS);
        assert_int_equal(roast_run_commit(run, NULL), 0);
        expected = summary_of(run);
        roast_run_free(run);
        assert_string_equal(summary, expected);
}

/* Without a log, what a commit overwrites is kept in a journal: killed in the middle of that */
static void kill_within_commit(const char *path)
{
        pid_t pid = fork();
        int status;

        assert_true(pid >= 0);
        if (pid == 0) {
                sqlite3 *db;

                if (sqlite3_open(path, &db) != SQLITE_OK ||
                    sqlite3_exec(db,
                                 "PRAGMA cache_size=1; BEGIN; UPDATE chunk SET wall_ns=1;"
                                 "UPDATE fact SET value=1; UPDATE span SET value=1.5;",
                                 NULL, NULL, NULL) != SQLITE_OK)
                        _exit(1);
                kill(getpid(), SIGKILL);
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFSIGNALED(status));
}

static void test_a_run_killed_within_a_late_commit_opens_as_it_was(void **state)
{
        const char *path = finished_run(state, "a.roast");
        ROAST_CLEANUP(cleanup_free) char *before = summary_of_file(path);
        ROAST_CLEANUP(cleanup_free) char *after = NULL;

        kill_within_commit(path);
        assert_true(size_of(folder_path(state, "a.roast-journal")) > 0);
        after = summary_of_file(path);
        assert_string_equal(after, before);
        assert_int_equal(count_files(*state), 1);
}

static int names_its_journal(const char *path)
{
        struct roast_error error = { 0 };
        struct roast_run *run;

        if (roast_run_open(&run, path, &error) != ROAST_E_IO)
                return 1;
        return strstr(error.message, "-journal") && strstr(error.message, "copy both") ? 0 : 2;
}

static void test_a_run_killed_within_a_late_commit_is_no_use_read_only(void **state)
{
        const char *path = finished_run(state, "a.roast");

        kill_within_commit(path);
        assert_int_equal(chmod(path, 0444), 0);
        assert_int_equal(chmod(folder_path(state, "a.roast-journal"), 0444), 0);
        assert_int_equal(chmod(*state, 0555), 0);
        as_nobody(names_its_journal, path);
}

/* Reads for a while, after it has said so. */
static pid_t read_for_a_while(const char *path)
{
        int pipes[2];
        char byte = 0;
        pid_t pid;

        assert_int_equal(pipe(pipes), 0);
        pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
                sqlite3 *db;

                if (sqlite3_open(path, &db) != SQLITE_OK ||
                    sqlite3_exec(db, "BEGIN; SELECT count(*) FROM fact;", NULL, NULL, NULL) !=
                            SQLITE_OK ||
                    write(pipes[1], &byte, 1) != 1)
                        _exit(1);
                usleep(300000);
                _exit(0);
        }
        close(pipes[1]);
        assert_int_equal(read(pipes[0], &byte, 1), 1);
        close(pipes[0]);
        return pid;
}

static void test_what_is_added_after_the_end_waits_for_readers(void **state)
{
        const char *path = folder_path(state, "a.roast");
        struct roast_run *run = create(path);
        struct roast_error error = { 0 };
        pid_t pid;

        fill(run);
        assert_int_equal(roast_run_finish(run, NULL), 0);
        pid = read_for_a_while(path);
        assert_int_equal(roast_run_fact_int(run, "late", 7, NULL), 0);
        if (roast_run_commit(run, &error) < 0)
                fail_msg("%s", error.message);
        assert_int_equal(waitpid(pid, NULL, 0), pid);
        roast_run_free(run);
        assert_int_equal(sql_int(path, "SELECT value FROM facts WHERE name='late'"), 7);
}

/* Somebody removed the file, but not its log. */
static void test_the_log_of_a_removed_run_does_not_reach_the_next_of_its_name(void **state)
{
        const char *path = folder_path(state, "a.roast");
        ROAST_CLEANUP(cleanup_free)
        char *expected = summary_of_file(finished_run(state, "b.roast"));
        ROAST_CLEANUP(cleanup_free) char *summary = NULL;

        kill_after_commit(path);
        assert_int_equal(unlink(path), 0);
        assert_true(size_of(folder_path(state, "a.roast-wal")) > 0);
        summary = summary_of_file(finished_run(state, "a.roast"));
        assert_string_equal(summary, expected);
}

static void test_a_killed_run_in_a_read_only_directory_says_what_to_do(void **state)
{
        const char *path = folder_path(state, "a.roast");

        kill_after_commit(path);
        assert_int_equal(unlink(folder_path(state, "a.roast-shm")), 0);
        assert_int_equal(chmod(path, 0444), 0);
        assert_int_equal(chmod(folder_path(state, "a.roast-wal"), 0444), 0);
        assert_int_equal(chmod(*state, 0555), 0);
        as_nobody(tells_of_a_journal, path);
}

/* ---- copies ---- */

static void test_a_copy_has_the_same_figures_and_replaces_a_file(void **state)
{
        const char *to = folder_path(state, "b.roast");
        ROAST_CLEANUP(cleanup_free) char *original = NULL;
        ROAST_CLEANUP(cleanup_free) char *copy = NULL;
        struct roast_run *run = create(NULL);

        assert_int_equal(roast_run_copy(run, to, NULL), 0);
        fill(run);
        original = summary_of(run);
        assert_int_equal(roast_run_copy(run, to, NULL), 0);
        copy = summary_of_file(to);
        assert_string_equal(copy, original);
        assert_int_equal(count_files(*state), 1);
        roast_run_free(run);
}

static void test_a_copy_that_fails_leaves_nothing(void **state)
{
        struct roast_run *run = open_run(finished_run(state, "a.roast"));
        struct roast_error error = { 0 };

        assert_int_equal(roast_run_copy(run, folder_path(state, "missing/b.roast"), &error),
                         ROAST_E_IO);
        assert_int_equal(mkdir(folder_path(state, "b.roast"), 0700), 0);
        assert_int_equal(roast_run_copy(run, folder_path(state, "b.roast"), &error), ROAST_E_IO);
        assert_int_equal(count_files(*state), 2);
        roast_run_free(run);
}

/* Its log would be replayed over the copy. */
static void test_a_copy_does_not_replace_a_run_that_is_being_written(void **state)
{
        const char *path = folder_path(state, "a.roast");
        ROAST_CLEANUP(cleanup_free) char *expected = NULL;
        ROAST_CLEANUP(cleanup_free) char *summary = NULL;
        struct roast_run *live = create(path), *other = create(NULL);
        struct roast_error error = { 0 };

        fill(live);
        expected = summary_of(live);
        assert_int_equal(roast_run_copy(other, path, &error), ROAST_E_STATE);
        assert_non_null(strstr(error.message, path));
        assert_int_equal(roast_run_copy(live, path, &error), ROAST_E_STATE);
        assert_int_equal(roast_run_finish(live, NULL), 0);
        assert_int_equal(roast_run_copy(live, path, &error), ROAST_E_STATE);
        assert_non_null(strstr(error.message, "itself"));
        roast_run_free(live);
        roast_run_free(other);
        summary = summary_of_file(path);
        assert_string_equal(summary, expected);
}

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
                  "INSERT INTO seal(tbl,last_id,utc_ns,hash) VALUES(11,1,0,0);");
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
                  " ahead_bytes=NULL, unused_bytes=NULL, unused_branches_text=NULL;");
        reseal(path, RUN_CHUNK);
        before = summary_of_file(path);
        sql(path, "DROP VIEW chunks; DROP VIEW sections;"
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
        assert_non_null(strstr(after, "num_chunks 1 "));
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

static void write_file(const char *path, const char *text, size_t len)
{
        FILE *file = fopen(path, "w");

        assert_non_null(file);
        assert_int_equal(fwrite(text, 1, len, file), len);
        fclose(file);
}

static void test_what_is_no_run_is_refused_by_its_kind(void **state)
{
        char zeros[512] = "";

        assert_refused(folder_path(state, "missing.roast"), ROAST_E_NOENT, "No such file");
        assert_refused(*state, ROAST_E_FORMAT, "directory");
        write_file(folder_path(state, "empty"), "", 0);
        assert_refused(folder_path(state, "empty"), ROAST_E_CORRUPT, "is empty");
        write_file(folder_path(state, "short"), "SQLite format 3", 16);
        assert_refused(folder_path(state, "short"), ROAST_E_FORMAT, "not a run file");
        write_file(folder_path(state, "zeros"), zeros, sizeof(zeros));
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
                assert_non_null(strstr(error.message, path));
                roast_run_free(run);
                unlink(path);
        }
}

/* ---- series on a grid ---- */

#define GRID 10

static int take_values(const char *worker, const int64_t *values, void *context)
{
        (void)worker;
        memcpy(context, values, GRID * sizeof(*values));
        return 0;
}

static void worker_event(struct roast_run *run, int64_t utc_ns, enum roast_worker_event kind,
                         int64_t threads)
{
        const struct roast_worker worker = { "tcp://a:1", NULL, -1, threads, -1 };

        assert_int_equal(roast_run_add_worker_event(run, utc_ns, kind, &worker, NULL), 0);
}

static void assert_threads(struct roast_run *run, const int64_t expected[GRID])
{
        const struct roast_grid grid = { 0, 1000, GRID };
        int64_t values[GRID] = { 0 };

        assert_int_equal(roast_run_commit(run, NULL), 0);
        assert_int_equal(
                roast_run_resample_workers(run, "threads", &grid, take_values, values, NULL), 0);
        assert_memory_equal(values, expected, sizeof(values));
}

static void test_a_worker_that_is_away_has_no_threads(void **state)
{
        const int64_t none = INT64_MIN;
        struct roast_run *run = create(NULL);

        (void)state;
        worker_event(run, 500, ROAST_WORKER_CAME, 4);
        worker_event(run, 2500, ROAST_WORKER_WENT, -1);
        worker_event(run, 4500, ROAST_WORKER_CAME, 8);
        assert_threads(run, (int64_t[GRID]){ none, 4, 4, none, none, 8, 8, 8, 8, 8 });
        worker_event(run, 7000, ROAST_WORKER_WENT, -1);
        assert_threads(run, (int64_t[GRID]){ none, 4, 4, none, none, 8, 8, none, none, none });
        roast_run_free(run);
}

static void test_a_worker_that_went_before_the_grid_has_no_threads(void **state)
{
        const int64_t none = INT64_MIN;
        struct roast_run *run = create(NULL);

        (void)state;
        worker_event(run, -900, ROAST_WORKER_PRESENT, 4);
        worker_event(run, -500, ROAST_WORKER_WENT, -1);
        assert_threads(
                run, (int64_t[GRID]){ none, none, none, none, none, none, none, none, none, none });
        roast_run_free(run);
}

/* An error with a message that names the file, or the figures as they were */
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
                TEST(test_facts_read_back_and_the_last_of_a_name_counts),
                TEST(test_numbers_that_sqlite_does_not_keep_do_not_damage_a_run),
                TEST(test_a_fact_of_another_shape_is_absent),
                TEST(test_what_is_known_about_a_run),
                TEST(test_a_run_without_an_end_is_unfinished),
                TEST(test_a_run_in_memory_has_the_same_figures),
                TEST(test_any_string_of_a_chunk_reads_back),
                TEST(test_chunks_of_extremes_are_summed_without_overflow),
                TEST(test_the_views_show_strings_and_seconds),
                TEST(test_damaged_chunk_records_add_nothing),
                TEST(test_only_its_owner_may_read_a_run_file),
                TEST(test_an_existing_file_is_not_touched),
                TEST(test_a_run_that_cannot_be_created_leaves_nothing),
                TEST(test_a_reader_sees_what_is_committed_while_the_writer_goes_on),
                TEST(test_the_writer_itself_sees_what_is_committed),
                TEST(test_a_reader_cannot_write),
                TEST(test_a_finished_run_is_one_file),
                TEST(test_a_run_finished_under_a_reader_is_whole),
                TEST(test_a_finished_run_opens_from_a_read_only_directory),
                TEST(test_a_run_that_stayed_in_wal_mode_opens_from_a_read_only_directory),
                TEST(test_a_killed_run_opens_with_what_was_committed),
                TEST(test_a_run_killed_within_a_late_commit_opens_as_it_was),
                TEST(test_a_run_killed_within_a_late_commit_is_no_use_read_only),
                TEST(test_what_is_added_after_the_end_waits_for_readers),
                TEST(test_the_log_of_a_removed_run_does_not_reach_the_next_of_its_name),
                TEST(test_a_killed_run_in_a_read_only_directory_says_what_to_do),
                TEST(test_a_copy_has_the_same_figures_and_replaces_a_file),
                TEST(test_a_copy_that_fails_leaves_nothing),
                TEST(test_a_copy_does_not_replace_a_run_that_is_being_written),
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
                TEST(test_a_worker_that_is_away_has_no_threads),
                TEST(test_a_worker_that_went_before_the_grid_has_no_threads),
                TEST(test_a_file_cut_off_anywhere_is_refused),
                TEST(test_a_flipped_bit_changes_no_figure),
        };

        return cmocka_run_group_tests_name("run", tests, NULL, NULL);
}
