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
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sample.h"
#include "synthetic.h"
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

static const struct {
        const char *name;
        int (*fill)(struct roast_run *run, struct roast_error *error);
} kinds[] = {
        { "finished", finished }, { "unfinished", unfinished }, { "failed", failed },
        { "empty", empty },       { "hostile", hostile },
};

static int make(const char *kind, const char *path, struct roast_error *error)
{
        struct roast_run *run;
        int r;

        r = roast_run_create(&run, path, error);
        if (r < 0)
                return r;
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(kinds) && r >= 0; i++)
                if (!strcmp(kind, kinds[i].name))
                        r = kinds[i].fill(run, error);
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
