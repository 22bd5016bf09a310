/*
 * Writes a run file for the tests of the command
 *
 *   make-run KIND PATH
 *   make-run many PATH CHUNKS SEED SCALE SPREAD WORKERS [CHUNK_EVENTS]
 *
 * finished    the sample: everything that a run can have
 * unfinished  its client was killed: the log lies beside the file
 * failed      an exception left the block
 * empty       begun and ended, nothing between
 * hostile     a name and an error that a terminal would obey
 * many        CHUNKS chunks, whose times are SCALE times the usual with a relative
 *             deviation of SPREAD, drawn from SEED, on WORKERS workers
 * hostile-names  the sample with names of workers, datasets and files that a browser would obey
 * large       2,000 chunks of 8 workers in 2 min; or, as KIND,
 *             large:CHUNKS:WORKERS:SECONDS
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "large.h"
#include "sample.h"
#include "synthetic.h"
#include "util/cleanup.h"
#include "util/size.h"

static int finished(struct roast_run *run, struct roast_error *error)
{
        return sample_fill(run, 40, error);
}

static int unfinished(struct roast_run *run, struct roast_error *error)
{
        int r = sample_begin(run, error);

        if (r >= 0)
                r = sample_add_chunks(run, 10, error);
        if (r >= 0)
                r = roast_run_commit(run, error);
        if (r >= 0)
                _exit(0); /* as a killed process leaves it */
        return r;
}

static int end(struct roast_run *run, struct roast_error *error)
{
        int r = roast_run_fact_int(run, "run.start_utc_ns", SAMPLE_START_UTC_NS, error);

        return r < 0 ? r
                     : roast_run_fact_int(run, "run.end_utc_ns", SAMPLE_START_UTC_NS + SAMPLE_S,
                                          error);
}

static int failed(struct roast_run *run, struct roast_error *error)
{
        int r = end(run, error);

        if (r >= 0)
                r = roast_run_fact_text(run, "run.outcome", "failed", error);
        return r < 0 ? r : roast_run_fact_text(run, "run.error", "ValueError: no muons", error);
}

static int empty(struct roast_run *run, struct roast_error *error)
{
        int r = end(run, error);

        return r < 0 ? r : roast_run_fact_text(run, "run.outcome", "finished", error);
}

static int hostile(struct roast_run *run, struct roast_error *error)
{
        int r = end(run, error);

        if (r >= 0)
                r = roast_run_fact_text(run, "run.name", "\x1b[2J\nname \"x\"", error);
        if (r >= 0)
                r = roast_run_fact_text(run, "run.outcome", "failed", error);
        return r < 0 ? r : roast_run_fact_text(run, "run.error", "a\x1b[31m\nb", error);
}

/* What a browser would obey, if it were not text */
static const char *const names[] = {
        "<img src=x onerror=harmed++>",
        "</script><script>harmed++</script>",
        "\"><svg onload=harmed++>",
        "javascript:harmed++",
        "{{data}} ${harmed++} &lt;b&gt; &#x3c;",
        "two\nlines \xff not UTF-8 \xe2\x80\xae turned",
        "__proto__",
        "",
};

static int add_hostile_chunk(struct chunk_table *table, size_t i)
{
        static const enum chunk_field fields[] = { CHUNK_DATASET,    CHUNK_FILE,
                                                   CHUNK_TREE,       CHUNK_WORKER,
                                                   CHUNK_ERROR_TYPE, CHUNK_ERROR_MESSAGE };
        const char *name = names[i % ROAST_ARRAY_SIZE(names)];
        int64_t values[SECTION_N_FIELDS] = { [SECTION_KIND] = SECTION_TIME,
                                             [SECTION_COUNT] = 1,
                                             [SECTION_TOTAL_NS] = SAMPLE_S / 4,
                                             [SECTION_SELF_NS] = SAMPLE_S / 4 };
        int r = chunk_table_add(table);

        for (size_t k = 0; k < ROAST_ARRAY_SIZE(fields) && r >= 0; k++)
                r = chunk_table_set_text(table, i, fields[k], name, strlen(name));
        if (r < 0)
                return r;
        chunk_table_set(table, i, CHUNK_OUTCOME, i % 2 ? CHUNK_FAILED : CHUNK_FINISHED);
        chunk_table_set(table, i, CHUNK_NUM_EVENTS, (int64_t)i * 1000 + 1);
        chunk_table_set(table, i, CHUNK_START_UTC_NS, SAMPLE_START_UTC_NS + (int64_t)i * 1000000);
        chunk_table_set(table, i, CHUNK_WALL_NS, SAMPLE_S / 2);
        r = chunk_table_add_section(table, name, strlen(name), values);
        return r < 0 ? r : chunk_table_add_branch(table, name, strlen(name), 1000);
}

static int hostile_names(struct roast_run *run, struct roast_error *error)
{
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;
        ROAST_CLEANUP(buf_deinit) struct buf bytes = BUF_INIT;
        int r = end(run, error);

        if (r >= 0)
                r = roast_run_fact_text(run, "run.name", names[0], error);
        if (r >= 0)
                r = roast_run_fact_text(run, "run.outcome", names[1], error);
        if (r >= 0)
                r = roast_run_fact_text(run, names[0], names[1], error);
        chunk_table_init(&table);
        for (size_t i = 0; i < 4 * ROAST_ARRAY_SIZE(names) && r >= 0; i++) {
                struct roast_worker worker = { names[i % ROAST_ARRAY_SIZE(names)], names[0], 1, 1,
                                               1000 };

                r = roast_run_add_worker_event(run, SAMPLE_START_UTC_NS, ROAST_WORKER_CAME, &worker,
                                               error);
                if (r >= 0 && add_hostile_chunk(&table, i) < 0)
                        r = roast_fail_nomem(error);
        }
        if (r >= 0)
                r = chunk_table_encode(&table, &bytes, error);
        return r < 0 ? r : roast_run_add_chunks(run, bytes.data, bytes.len, error);
}

static int large(struct roast_run *run, struct roast_error *error)
{
        return large_fill(run, &(struct large_size){ 2000, 8, 120 }, error);
}

static const struct {
        const char *name;
        int (*fill)(struct roast_run *run, struct roast_error *error);
} kinds[] = {
        { "finished", finished }, { "unfinished", unfinished }, { "failed", failed },
        { "empty", empty },       { "hostile", hostile },       { "hostile-names", hostile_names },
        { "large", large },
};

static int fill(struct roast_run *run, const char *kind, struct roast_error *error)
{
        struct large_size size;

        if (sscanf(kind, "large:%zu:%zu:%zu", &size.n_chunks, &size.n_workers, &size.seconds) == 3)
                return large_fill(run, &size, error);
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(kinds); i++)
                if (!strcmp(kind, kinds[i].name))
                        return kinds[i].fill(run, error);
        return roast_fail(error, ROAST_E_INVALID, "%s: there is no such kind of run", kind);
}

static int make(const char *kind, const char *path, struct roast_error *error)
{
        struct roast_run *run;
        int r;

        r = roast_run_create(&run, path, error);
        if (r < 0)
                return r;
        r = fill(run, kind, error);
        if (r >= 0)
                r = roast_run_finish(run, error);
        roast_run_free(run);
        return r;
}

static int make_many(char **argv, int argc, struct roast_error *error)
{
        const struct synthetic options = {
                .chunks = strtoul(argv[1], NULL, 10),
                .seed = strtoul(argv[2], NULL, 10),
                .scale = strtod(argv[3], NULL),
                .spread = strtod(argv[4], NULL),
                .workers = strtoul(argv[5], NULL, 10),
                .chunk_events = argc > 6 ? strtol(argv[6], NULL, 10) : 0,
        };
        struct roast_run *run;
        int r;

        r = roast_run_create(&run, argv[0], error);
        if (r < 0)
                return r;
        r = synthetic_fill(run, &options, error);
        if (r >= 0)
                r = roast_run_finish(run, error);
        roast_run_free(run);
        return r;
}

int main(int argc, char **argv)
{
        struct roast_error error = { 0 };
        bool many = argc >= 8 && argc <= 9 && !strcmp(argv[1], "many");

        if (argc != 3 && !many) {
                fprintf(stderr, "make-run KIND PATH\n");
                return 2;
        }
        if ((many ? make_many(argv + 2, argc - 2, &error) : make(argv[1], argv[2], &error)) < 0) {
                fprintf(stderr, "make-run: %s\n", error.message);
                return 1;
        }
        return 0;
}
