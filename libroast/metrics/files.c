/* The files of a run: see files.h. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "metrics/files.h"
#include "record/chunk.h"
#include "util/array.h"
#include "util/cbor.h"
#include "util/text.h"

int files_init(struct files *files, struct collect *collect, struct roast_error *error)
{
        *files = (struct files){ .collect = collect };
        files->slots = calloc(collect->texts.n + 1, sizeof(*files->slots));
        files->numbers = calloc(collect->texts.n + 1, sizeof(*files->numbers));
        if (!files->slots || !files->numbers || bytes_init(&files->bytes, collect) < 0)
                return roast_fail_nomem(error);
        return 0;
}

void files_deinit(struct files *files)
{
        for (size_t i = 0; files->coverages && i < files->collect->summary->n_files; i++)
                coverage_file_deinit(&files->coverages[i]);
        free(files->coverages);
        free(files->slots);
        free(files->numbers);
        free(files->branches);
        free(files->sizes);
        bytes_deinit(&files->bytes);
        *files = (struct files){ 0 };
}

/* The number of the branch with that name, which must be one of the run's strings */
static uint32_t files_number_of(struct files *files, int64_t text)
{
        uint32_t *number = &files->numbers[text];

        if (!*number)
                *number = ++files->n_branches;
        return *number - 1;
}

/* The branch in the summary, under the number that it is about to get */
static int files_name_branch(struct files *files, int64_t text)
{
        struct roast_summary *summary = files->collect->summary;
        const struct run_value value = run_int(text);
        struct roast_branch *branch;
        const char *name;
        size_t len;

        if (files->numbers[text])
                return 0;
        if (ARRAY_ROOM(summary->branches, summary->n_branches, files->cap_summed) < 0)
                return ROAST_E_NOMEM;
        name = collect_text(files->collect, &value, &len);
        branch = &summary->branches[summary->n_branches];
        *branch = (struct roast_branch){ .name = text_copy(name, len) };
        if (!branch->name)
                return ROAST_E_NOMEM;
        summary->n_branches++;
        return 0;
}

int files_branch(struct files *files, const struct run_value *values, struct roast_error *error)
{
        size_t len, cap = files->cap;

        if (!collect_text(files->collect, &values[PART_NAME], &len))
                return 0;
        if (ARRAY_ROOM(files->branches, files->n, cap) < 0 ||
            ARRAY_ROOM(files->sizes, files->n, files->cap) < 0 ||
            files_name_branch(files, values[PART_NAME].integer) < 0)
                return roast_fail_nomem(error);
        files->sizes[files->n] =
                values[BRANCH_BYTES].type == RUN_INT ? values[BRANCH_BYTES].integer : -1;
        files->branches[files->n++] = files_number_of(files, values[PART_NAME].integer);
        if (values[BRANCH_BYTES].type == RUN_INT && values[BRANCH_BYTES].integer > 0)
                files->needed_bytes += (double)values[BRANCH_BYTES].integer;
        return 0;
}

void files_pass(struct files *files)
{
        files->n = 0;
        files->needed_bytes = 0;
}

/* What is positive; NaN: not known */
static double files_positive(const struct run_value *value)
{
        return value->type == RUN_INT && value->integer > 0 ? (double)value->integer : (double)NAN;
}

static struct roast_file *files_find(struct files *files, const struct run_value *text)
{
        struct roast_summary *summary = files->collect->summary;
        size_t n = summary->n_files, cap = files->cap_files, len;
        size_t *slot = &files->slots[text->integer];
        const char *name = collect_text(files->collect, text, &len);
        struct roast_file *file;

        if (*slot)
                return &summary->files[*slot - 1];
        if (ARRAY_ROOM(files->coverages, n, cap) < 0 ||
            ARRAY_ROOM(summary->files, n, files->cap_files) < 0)
                return NULL;
        file = &summary->files[n];
        *file = (struct roast_file){ .compression_ratio = (double)NAN };
        file->name = text_copy(name, len);
        if (!file->name)
                return NULL;
        files->coverages[n] = (struct coverage_file){ 0 };
        *slot = ++summary->n_files;
        return file;
}

static void files_count_chunk(struct roast_file *file, const struct run_value *values)
{
        const struct run_value *wall = &values[CHUNK_WALL_NS];
        const struct run_value *bytes = &values[CHUNK_REQUESTED_BYTES];

        if (values[CHUNK_OUTCOME].type == RUN_INT &&
            values[CHUNK_OUTCOME].integer != CHUNK_FINISHED) {
                file->failed++;
                return;
        }
        file->finished++;
        if (values[CHUNK_NUM_EVENTS].type == RUN_INT)
                file->events = stat_sum_int(file->events, values[CHUNK_NUM_EVENTS].integer);
        if (wall->type != RUN_NULL) {
                file->wall_s += run_number(wall) / 1e9;
                file->wall_chunks++;
        }
        if (bytes->type == RUN_INT) {
                file->requested_bytes += (double)bytes->integer;
                file->bytes_chunks++;
        }
}

/* Every process that opened a file sends its totals, one chunk also its branches: that is kept. */
static int files_keep_metadata(struct roast_file *file, const struct run_value *blob)
{
        char *kept;

        if (blob->type != RUN_BYTES || blob->len == 0 ||
            (file->metadata && blob->len <= file->metadata_len))
                return 0;
        kept = text_copy(blob->data, blob->len);
        if (!kept)
                return ROAST_E_NOMEM;
        free(file->metadata);
        file->metadata = kept;
        file->metadata_len = blob->len;
        return 0;
}

static int files_add_coverage(struct files *files, struct roast_file *file,
                              const struct run_value *values)
{
        double tree_branches = files_positive(&values[CHUNK_TREE_BRANCHES]);
        double tree_bytes = files_positive(&values[CHUNK_TREE_BYTES]);
        double selected = files_positive(&values[CHUNK_SELECTED_BYTES]);
        double whole = files_positive(&values[CHUNK_SELECTED_UNCOMPRESSED_BYTES]);
        const struct run_value *stated = &values[CHUNK_STATED_BRANCHES_PPB];
        double branches_percent = stated->type != RUN_NULL ? run_number(stated) / 1e7
                                  : isnan(tree_branches)
                                          ? (double)NAN
                                          : fmin((double)files->n / tree_branches * 100, 100);
        /* a chunk that touched nothing says 0, which is known */
        bool told = values[CHUNK_SELECTED_BYTES].type == RUN_INT && !isnan(tree_bytes);
        double bytes_percent = told ? fmin(fmax(selected, 0) / tree_bytes * 100, 100) : (double)NAN;
        double read = files->needed_bytes > 0 ? files->needed_bytes : selected;

        if (values[CHUNK_STATED_BYTES_PPB].type != RUN_NULL)
                bytes_percent = run_number(&values[CHUNK_STATED_BYTES_PPB]) / 1e7;
        if (!files->n && isnan(branches_percent) && isnan(tree_bytes) && isnan(bytes_percent) &&
            isnan(selected))
                return 0;
        file->has_coverage = true;
        if (tree_branches > (double)file->branches)
                file->branches = stat_whole(tree_branches);
        if (told && tree_bytes > file->bytes)
                file->bytes = tree_bytes;
        if (!isnan(branches_percent))
                stat_add(&files->branches_percent, branches_percent);
        if (!isnan(bytes_percent))
                stat_add(&files->bytes_percent, bytes_percent);
        if (selected > 0 && whole > 0) {
                files->compressed += read;
                files->uncompressed += read * (whole / selected);
        }
        return coverage_file_add(&files->coverages[file - files->collect->summary->files],
                                 files->branches, files->n, selected, branches_percent,
                                 bytes_percent);
}

/*
 * What the branches of a chunk that finished need together; -1: it is not known. One that touched
 * no branch of a tree needs nothing; of branches that do not tell their sizes nothing is known.
 */
static int64_t files_sum_branches(struct files *files, const struct run_value *values)
{
        struct roast_summary *summary = files->collect->summary;
        bool touched_none = files->n == 0 && values[CHUNK_TREE_BYTES].type == RUN_INT;
        int64_t needed = touched_none ? 0 : -1;

        for (size_t i = 0; i < files->n; i++) {
                struct roast_branch *branch = &summary->branches[files->branches[i]];

                branch->chunks++;
                if (files->sizes[i] < 0)
                        continue;
                branch->needed.chunks++;
                branch->needed.bytes = stat_sum_int(branch->needed.bytes, files->sizes[i]);
                needed = stat_sum_int(needed < 0 ? 0 : needed, files->sizes[i]);
        }
        return needed;
}

int files_chunk(struct files *files, const struct run_value *values, size_t dataset,
                struct roast_error *error)
{
        struct roast_file *file = NULL;
        size_t len;
        int r = 0;

        if (collect_text(files->collect, &values[CHUNK_FILE], &len)) {
                file = files_find(files, &values[CHUNK_FILE]);
                r = file ? 0 : ROAST_E_NOMEM;
        }
        if (file) {
                files_count_chunk(file, values);
                if (run_int_or(&values[CHUNK_OUTCOME], 0) == CHUNK_FINISHED)
                        r = bytes_chunk(&files->bytes, values, files_sum_branches(files, values),
                                        (size_t)(file - files->collect->summary->files), dataset);
                if (r >= 0)
                        r = files_keep_metadata(file, &values[CHUNK_FILE_METADATA]);
                if (r >= 0)
                        r = files_add_coverage(files, file, values);
        }
        files_pass(files);
        return r < 0 ? roast_fail_nomem(error) : 0;
}

/* {branch: compressed bytes}: those of branches that a chunk touched */
static int files_read_branch_bytes(struct files *files, struct coverage_file *coverage,
                                   struct cursor *in, uint64_t n)
{
        int r = intern_index(&files->collect->texts);

        for (uint64_t i = 0; i < n && !in->bad && r >= 0; i++) {
                struct cbor_item name = cbor_next(in), item;
                double bytes;
                int64_t text;

                if (name.type != CBOR_TEXT)
                        cbor_skip(in, &name);
                item = cbor_next(in);
                bytes = cbor_number(&item);
                text = name.type == CBOR_TEXT && !isnan(bytes)
                               ? intern_find(&files->collect->texts, (const char *)name.data,
                                             (size_t)name.value)
                               : -1;
                if (text >= 0 && files->numbers[text + 1])
                        r = coverage_file_branch(coverage, files->numbers[text + 1] - 1, bytes);
                cbor_skip(in, &item);
        }
        return r;
}

static int files_read_metadata(struct files *files, struct roast_file *file,
                               struct coverage_file *coverage)
{
        struct cursor in = cursor_init(file->metadata, file->metadata_len);
        struct cbor_item map = cbor_next(&in);

        for (uint64_t i = 0; map.type == CBOR_MAP && i < map.value && !in.bad; i++) {
                struct cbor_item key = cbor_next(&in), value;

                if (key.type != CBOR_TEXT)
                        cbor_skip(&in, &key);
                value = cbor_next(&in);
                if (cbor_is(&key, "branch_bytes") && value.type == CBOR_MAP) {
                        if (files_read_branch_bytes(files, coverage, &in, value.value) < 0)
                                return ROAST_E_NOMEM;
                        continue;
                }
                if (cbor_is(&key, "compression_ratio") && isfinite(cbor_number(&value)) &&
                    cbor_number(&value) > 0)
                        file->compression_ratio = cbor_number(&value);
                cbor_skip(&in, &value);
        }
        return 0;
}

static int files_set_one(struct files *files, size_t i)
{
        struct roast_file *file = &files->collect->summary->files[i];
        struct coverage_file *coverage = &files->coverages[i];
        struct coverage result;
        int r;

        r = file->metadata ? files_read_metadata(files, file, coverage) : 0;
        if (r < 0 || !file->has_coverage)
                return r;
        r = coverage_of_file(&result, coverage, files->n_branches, (double)file->branches,
                             file->bytes);
        file->branches_read = (int64_t)result.branches;
        file->bytes_read = result.bytes;
        file->branches_read_percent = result.branches_percent;
        file->bytes_read_percent = result.bytes_percent;
        file->estimated = result.estimated;
        file->sums.mixed = coverage->n > 1;
        return r;
}

/* The means over files; those of the bytes are estimated if one file's are. */
static int files_set_means(struct files *files, struct roast_metric_set *set)
{
        const struct roast_summary *summary = files->collect->summary;
        struct stat_sum branches = { 0 }, bytes = { 0 };
        size_t n_estimated = 0;

        for (size_t i = 0; i < summary->n_files; i++) {
                const struct roast_file *file = &summary->files[i];

                if (file->has_coverage && (file->branches || file->branches_read_percent > 0))
                        stat_add(&branches, file->branches_read_percent);
                if (file->has_coverage && (file->bytes > 0 || file->bytes_read_percent > 0))
                        stat_add(&bytes, file->bytes_read_percent);
                n_estimated += file->estimated;
        }
        if (branches.n)
                roast_metric_set_real(set, ROAST_AVG_BRANCHES_READ_PERCENT, branches.mean);
        if (!bytes.n)
                return 0;
        if (n_estimated)
                return roast_metric_set_estimated(
                        set, ROAST_AVG_BYTES_READ_PERCENT, bytes.mean,
                        "chunks read overlapping sets of branches of %zu files", n_estimated);
        roast_metric_set_real(set, ROAST_AVG_BYTES_READ_PERCENT, bytes.mean);
        return 0;
}

static int files_by_bytes(const void *a, const void *b)
{
        const struct roast_branch *x = a, *y = b;

        if (x->needed.bytes != y->needed.bytes)
                return x->needed.bytes < y->needed.bytes ? 1 : -1;
        return strcmp(x->name, y->name);
}

static void files_sort_branches(struct roast_summary *summary)
{
        if (summary->n_branches)
                qsort(summary->branches, summary->n_branches, sizeof(*summary->branches),
                      files_by_bytes);
}

int files_set(struct files *files, struct roast_error *error)
{
        struct roast_metric_set *set = &files->collect->summary->metrics;
        size_t n = files->collect->summary->n_files;

        for (size_t i = 0; i < n; i++)
                if (files_set_one(files, i) < 0)
                        return roast_fail_nomem(error);
        if (n)
                roast_metric_set_count(set, ROAST_NUM_FILES, (int64_t)n);
        if (files->n_branches)
                roast_metric_set_count(set, ROAST_TOTAL_BRANCHES_READ, files->n_branches);
        if (files->branches_percent.n)
                roast_metric_set_real(set, ROAST_CHUNK_BRANCHES_READ_PERCENT_MEAN,
                                      files->branches_percent.mean);
        if (files->bytes_percent.n)
                roast_metric_set_real(set, ROAST_CHUNK_BYTES_READ_PERCENT_MEAN,
                                      files->bytes_percent.mean);
        if (files->uncompressed > 0)
                roast_metric_set_real(set, ROAST_COMPRESSION_RATIO,
                                      files->compressed / files->uncompressed);
        if (bytes_end(&files->bytes) < 0 || files_set_means(files, set) < 0)
                return roast_fail_nomem(error);
        files_sort_branches(files->collect->summary);
        return 0;
}
