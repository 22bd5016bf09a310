/* The branches of chunks: see branches.h. */

#include <stdlib.h>
#include <string.h>

#include "metrics/branches.h"
#include "metrics/coverage.h"
#include "metrics/stat.h"
#include "record/chunk.h"
#include "util/cleanup.h"
#include "util/text.h"

struct branch_walk {
        struct collect *collect;
        struct files *files;
        size_t *slots; /* by the number of the branch's name: its index + 1 */
        size_t cap;
        uint32_t *branches; /* of the chunk that is walked over: indices */
        size_t n, cap_branches;
        struct coverage_file *covered; /* by row of the files; those that are mixed are used */
};

static void walk_deinit(struct branch_walk *walk)
{
        for (size_t i = 0; walk->covered && i < walk->collect->summary->n_files; i++)
                coverage_file_deinit(&walk->covered[i]);
        free(walk->covered);
        free(walk->branches);
        free(walk->slots);
}

static struct roast_branch *branch_of(struct branch_walk *walk, int64_t number, const char *name,
                                      size_t len)
{
        struct roast_summary *summary = walk->collect->summary;
        size_t *slot = &walk->slots[number];
        struct roast_branch *branch;

        if (*slot)
                return &summary->branches[*slot - 1];
        if (summary->n_branches == walk->cap) {
                size_t cap = walk->cap ? walk->cap * 2 : 64;

                branch = realloc(summary->branches, cap * sizeof(*branch));
                if (!branch)
                        return NULL;
                summary->branches = branch;
                walk->cap = cap;
        }
        branch = &summary->branches[summary->n_branches];
        *branch = (struct roast_branch){ .name = text_copy(name, len) };
        if (!branch->name)
                return NULL;
        *slot = ++summary->n_branches;
        return branch;
}

static int note(struct branch_walk *walk, size_t index)
{
        if (!walk->covered)
                return 0;
        if (walk->n == walk->cap_branches) {
                size_t cap = walk->cap_branches ? walk->cap_branches * 2 : 64;
                uint32_t *grown = realloc(walk->branches, cap * sizeof(*grown));

                if (!grown)
                        return ROAST_E_NOMEM;
                walk->branches = grown;
                walk->cap_branches = cap;
        }
        walk->branches[walk->n++] = (uint32_t)index;
        return 0;
}

/* values: chunk_id, name_text, bytes */
static int add(struct branch_walk *walk, const struct run_value *values, struct roast_error *error)
{
        struct roast_branch *branch;
        size_t len;
        const char *name = collect_text(walk->collect, &values[1], &len);

        if (!name)
                return roast_fail(error, ROAST_E_CORRUPT,
                                  "%s: is damaged (a branch without a name)",
                                  run_label(walk->collect->run));
        if (files_of_chunk(walk->files, values[0].integer) < 0)
                return 0;
        branch = branch_of(walk, values[1].integer, name, len);
        if (!branch || note(walk, walk->slots[values[1].integer] - 1) < 0)
                return roast_fail_nomem(error);
        branch->chunks++;
        if (values[2].type == RUN_INT) {
                branch->needed.chunks++;
                branch->needed.bytes = stat_sum_int(branch->needed.bytes, values[2].integer);
        }
        return 0;
}

/* The branches of a chunk are those of its file, beside those of its other chunks. */
static int end_chunk(struct branch_walk *walk, const struct run_scan *chunk)
{
        const struct run_value *selected = &chunk->values[CHUNK_SELECTED_BYTES];
        int64_t row = files_of_chunk(walk->files, chunk->id);
        size_t n = walk->n;

        walk->n = 0;
        if (row < 0 || !files_is_mixed(walk->files, (size_t)row))
                return 0;
        return coverage_file_add(&walk->covered[row], walk->branches, n,
                                 selected->type == RUN_INT ? (double)selected->integer
                                                           : (double)NAN,
                                 (double)NAN, (double)NAN);
}

/* Chunks and their branches have the same order: one walk beside the other. */
static int walk_mixed(struct branch_walk *walk, struct run_scan *branches,
                      struct roast_error *error)
{
        struct run_scan chunks;
        int more = 1, r;

        r = run_scan_begin(&chunks, walk->collect->run, RUN_CHUNK, error);
        if (r >= 0)
                r = more = run_scan_next(branches, error);
        while (r >= 0 && (r = run_scan_next(&chunks, error)) > 0) {
                while (r >= 0 && more > 0 && branches->values[0].integer == chunks.id) {
                        r = add(walk, branches->values, error);
                        if (r >= 0)
                                r = more = run_scan_next(branches, error);
                }
                if (r >= 0 && end_chunk(walk, &chunks) < 0)
                        r = roast_fail_nomem(error);
        }
        run_scan_end(&chunks);
        if (r >= 0 && more > 0)
                r = roast_fail(error, ROAST_E_CORRUPT, "%s: is damaged (a branch of no chunk)",
                               run_label(walk->collect->run));
        return r;
}

static int set_touched(struct branch_walk *walk)
{
        const struct roast_summary *summary = walk->collect->summary;

        for (size_t i = 0; i < summary->n_files; i++) {
                struct coverage coverage;

                if (!files_is_mixed(walk->files, i))
                        continue;
                if (coverage_of_file(&coverage, &walk->covered[i], summary->n_branches, 0, 0) < 0)
                        return ROAST_E_NOMEM;
                files_set_touched(walk->files, i, &coverage);
        }
        return 0;
}

static int by_bytes(const void *a, const void *b)
{
        const struct roast_branch *x = a, *y = b;

        if (x->needed.bytes != y->needed.bytes)
                return x->needed.bytes < y->needed.bytes ? 1 : -1;
        return strcmp(x->name, y->name);
}

static int begin(struct branch_walk *walk)
{
        walk->slots = calloc(walk->collect->texts.n + 1, sizeof(*walk->slots));
        if (walk->files->mixed)
                walk->covered = calloc(walk->collect->summary->n_files, sizeof(*walk->covered));
        return !walk->slots || (walk->files->mixed && !walk->covered) ? ROAST_E_NOMEM : 0;
}

int branches_collect(struct collect *collect, struct files *files, struct roast_error *error)
{
        ROAST_CLEANUP(walk_deinit) struct branch_walk walk = { .collect = collect, .files = files };
        struct roast_summary *summary = collect->summary;
        struct run_scan scan;
        int r;

        if (begin(&walk) < 0)
                return roast_fail_nomem(error);
        r = run_scan_begin(&scan, collect->run, RUN_BRANCH, error);
        if (r >= 0 && walk.covered)
                r = walk_mixed(&walk, &scan, error);
        else
                while (r >= 0 && (r = run_scan_next(&scan, error)) > 0)
                        r = add(&walk, scan.values, error);
        run_scan_end(&scan);
        if (r < 0)
                return r;
        if (walk.covered && set_touched(&walk) < 0)
                return roast_fail_nomem(error);
        if (summary->n_branches)
                qsort(summary->branches, summary->n_branches, sizeof(*summary->branches), by_bytes);
        return 0;
}
