/*
 * The view of `roast watch`: how far, how fast, on what, and what goes wrong
 *
 * Tables in the order of their importance, then the slowest chunks so far; what
 * does not fit the height of the terminal is left out.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "roast-show.h"
#include "roast-units.h"
#include "run/attempts.h"
#include "run/series.h"
#include "show/build.h"
#include "util/cleanup.h"
#include "util/size.h"
#include "watch.h"

#define SLOWEST 5

static const char *const shown[] = { "timing", "events", "throughput", "resources", "failures" };

struct attempts {
        struct {
                int64_t wall_ns;
                int64_t file_text; /* 0: not known */
                int64_t entry_start;
        } slowest[SLOWEST]; /* longest first */
        size_t n_slowest;
        int64_t finished;
        int64_t failed;
};

static int watch_note_attempt(const struct run_attempt *attempt, void *context,
                              struct roast_error *error)
{
        struct attempts *attempts = context;
        const struct run_value *wall = &attempt->chunk[CHUNK_WALL_NS];
        const struct run_value *file = &attempt->chunk[CHUNK_FILE];
        const struct run_value *start = &attempt->chunk[CHUNK_ENTRY_START];
        size_t at = attempts->n_slowest;

        (void)error;
        attempts->finished += attempt->outcome == CHUNK_FINISHED;
        attempts->failed += attempt->outcome == CHUNK_FAILED || attempt->outcome == CHUNK_LOST;
        if (wall->type != RUN_INT || attempt->outcome != CHUNK_FINISHED)
                return 0;
        while (at > 0 && attempts->slowest[at - 1].wall_ns < wall->integer)
                at--;
        if (at == SLOWEST)
                return 0;
        if (attempts->n_slowest < SLOWEST)
                attempts->n_slowest++;
        memmove(&attempts->slowest[at + 1], &attempts->slowest[at],
                (attempts->n_slowest - at - 1) * sizeof(attempts->slowest[0]));
        attempts->slowest[at].wall_ns = wall->integer;
        attempts->slowest[at].file_text = file->type == RUN_INT ? file->integer : 0;
        attempts->slowest[at].entry_start = start->type == RUN_INT ? start->integer : -1;
        return 0;
}

static int watch_put_headline(struct buf *out, struct roast_run *run,
                              const struct attempts *attempts, bool *ended,
                              struct roast_error *error)
{
        struct roast_run_about about;
        char line[512];
        int r = roast_run_about(run, &about, error);

        if (r < 0)
                return r;
        *ended = about.outcome;
        (void)snprintf(line, sizeof(line), "%s: %s, %lld chunk%s done, %lld failed or lost",
                       about.name ? about.name : "run", about.outcome ? about.outcome : "running",
                       (long long)attempts->finished, attempts->finished == 1 ? "" : "s",
                       (long long)attempts->failed);
        return buf_printf(out, "%s\n", cli_clean(line)) < 0 ? roast_fail_nomem(error) : 0;
}

static int watch_put_table(struct buf *out, const struct roast_table *table,
                           const struct watch_size *size, struct roast_error *error)
{
        const struct roast_text_options options = { .color = size->color, .width = size->width };
        ROAST_CLEANUP(cleanup_free) char *text = NULL;
        int r;

        if (table->n_rows == 0)
                return 0;
        r = roast_table_to_text(&text, table, &options, error);
        return r < 0 ? r : buf_printf(out, "\n%s", text) < 0 ? roast_fail_nomem(error) : 0;
}

static int watch_put_slowest(struct buf *out, struct roast_run *run,
                             const struct attempts *attempts, const struct watch_size *size,
                             struct roast_error *error)
{
        static const struct roast_column columns[] = {
                { "wall_s", "Time", true },
                { "file", "File", false },
                { "entry_start", "From Entry", true },
        };
        ROAST_CLEANUP(roast_table_deinit)
        struct roast_table table = { .name = "slowest",
                                     .title = "Slowest Chunks",
                                     .columns = columns,
                                     .n_columns = ROAST_ARRAY_SIZE(columns) };
        ROAST_CLEANUP(intern_deinit) struct intern texts = { 0 };
        int r = run_read_texts(run, &texts, error);

        for (size_t i = 0; r >= 0 && i < attempts->n_slowest; i++) {
                struct roast_cell *cells = build_row(&table);
                int64_t text = attempts->slowest[i].file_text;
                const char *name = "";
                size_t len = 0;

                if (!cells)
                        break;
                if (text > 0 && (uint64_t)text <= texts.n)
                        name = intern_get(&texts, (size_t)text - 1, &len);
                build_seconds(&cells[0], (double)attempts->slowest[i].wall_ns / 1e9);
                build_text(&cells[1], "%.*s", (int)(len < 4096 ? len : 4096), name);
                if (attempts->slowest[i].entry_start >= 0)
                        build_count(&cells[2], attempts->slowest[i].entry_start);
        }
        if (r >= 0 && build_result(&table) < 0)
                r = roast_fail_nomem(error);
        return r < 0 ? r : watch_put_table(out, &table, size, error);
}

static int watch_put_all(struct buf *out, struct roast_run *run, const struct watch_size *size,
                         bool *ended, struct roast_error *error)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary = { 0 };
        struct attempts attempts = { 0 };
        int r = roast_summary_of_run(&summary, run, error);

        if (r >= 0)
                r = roast_run_attempts(run, watch_note_attempt, &attempts, error);
        if (r >= 0)
                r = watch_put_headline(out, run, &attempts, ended, error);
        for (size_t i = 0; r >= 0 && i < ROAST_ARRAY_SIZE(shown); i++) {
                struct roast_table table;

                r = roast_table_make(&table, shown[i], &summary, error);
                if (r < 0)
                        break;
                r = watch_put_table(out, &table, size, error);
                roast_table_deinit(&table);
        }
        return r < 0 ? r : watch_put_slowest(out, run, &attempts, size, error);
}

/* Only as many lines as there is room for */
static void watch_cut_lines(struct buf *out, size_t height)
{
        size_t lines = 0;

        for (size_t i = 0; i < out->len; i++)
                if (out->data[i] == '\n' && ++lines == height) {
                        out->len = i + 1;
                        return;
                }
}

int watch_compose(struct buf *out, struct roast_run *run, const struct watch_size *size,
                  struct roast_error *error)
{
        bool ended = false;
        int r = watch_put_all(out, run, size, &ended, error);

        if (size->height)
                watch_cut_lines(out, size->height > 1 ? size->height - 1 : 1);
        return r < 0 ? r : ended;
}
