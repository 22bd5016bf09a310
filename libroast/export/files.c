/* The files of a run, each with what its chunks did, as rows */

#include <math.h>
#include <stdlib.h>

#include "export/export.h"
#include "util/cleanup.h"
#include "util/size.h"
#include "v1/put-record.h"

#define BATCH 256

static void files_put_int(struct rows *rows, int64_t value)
{
        if (value == CHUNK_ABSENT)
                rows_absent(rows);
        else
                rows_int(rows, value);
}

static const struct rows_column file_columns[] = {
        { "file", false },           { "dataset", false },          { "tree", false },
        { "attempts", false },       { "finished", false },         { "failed", false },
        { "lost", false },           { "skipped", false },          { "num_events", false },
        { "duration", false },       { "cpu_time", false },         { "bytes_read", false },
        { "total_branches", false }, { "total_tree_bytes", false }, { "error_type", false },
        { "error_message", false },
};

/* Sums over the finished attempts of a file; their numbers by outcome are of all. */
struct file {
        int64_t dataset; /* numbers of strings, or -1 */
        int64_t tree;
        int64_t error_type;
        int64_t error_message;
        int64_t outcomes[CHUNK_N_OUTCOMES];
        double wall_s; /* NaN: of none */
        double cpu_s;
        int64_t events; /* CHUNK_ABSENT: of none */
        int64_t bytes;
        int64_t tree_branches;
        int64_t tree_bytes;
};

struct files {
        struct file *files; /* by the number of the file's name */
        size_t n;
        struct intern names;
        struct intern strings;
};

static void files_release(struct files *files)
{
        free(files->files);
        intern_deinit(&files->names);
        intern_deinit(&files->strings);
}

/* The first text counts; -1 is none, which a lack of memory must not look like. */
static int files_keep_text(struct files *files, const struct chunk_table *table, size_t row,
                           enum chunk_field field, int64_t *kept)
{
        size_t len;
        const char *text = chunk_table_text(table, row, field, &len);
        int64_t number;

        if (*kept >= 0 || !text)
                return 0;
        number = intern_put(&files->strings, text, len);
        if (number < 0)
                return ROAST_E_NOMEM;
        *kept = number;
        return 0;
}

static void files_add_real(double *sum, double value)
{
        if (!isnan(value))
                *sum = isnan(*sum) ? value : *sum + value;
}

static void files_add_int(int64_t *sum, int64_t value)
{
        if (value == CHUNK_ABSENT)
                return;
        if (*sum == CHUNK_ABSENT)
                *sum = 0;
        if (__builtin_add_overflow(*sum, value, sum))
                *sum = CHUNK_ABSENT;
}

static void files_keep_largest(int64_t *largest, int64_t value)
{
        if (value > *largest)
                *largest = value;
}

/* The file of a row; NULL: no memory */
static struct file *files_of_row(struct files *files, const struct chunk_table *table, size_t row)
{
        size_t len;
        const char *name = chunk_table_text(table, row, CHUNK_FILE, &len);
        int64_t number = intern_put(&files->names, name, len);

        if (number < 0)
                return NULL;
        if ((size_t)number == files->n) {
                struct file *grown = files->files;

                if ((files->n & (files->n - 1)) == 0) /* a power of two, or 0 */
                        grown = realloc(grown,
                                        (files->n ? 2 * files->n : 1) * sizeof(*files->files));
                if (!grown)
                        return NULL;
                files->files = grown;
                grown[files->n++] = (struct file){ .dataset = -1,
                                                   .tree = -1,
                                                   .error_type = -1,
                                                   .error_message = -1,
                                                   .wall_s = (double)NAN,
                                                   .cpu_s = (double)NAN,
                                                   .events = CHUNK_ABSENT,
                                                   .bytes = CHUNK_ABSENT,
                                                   .tree_branches = CHUNK_ABSENT,
                                                   .tree_bytes = CHUNK_ABSENT };
        }
        return &files->files[number];
}

static int files_add_chunk(struct files *files, struct file *file, const struct chunk_table *table,
                           size_t row)
{
        int64_t outcome = chunk_table_get(table, row, CHUNK_OUTCOME);

        if (outcome < 0 || outcome >= CHUNK_N_OUTCOMES)
                outcome = CHUNK_FINISHED;
        file->outcomes[outcome]++;
        if (files_keep_text(files, table, row, CHUNK_DATASET, &file->dataset) < 0 ||
            files_keep_text(files, table, row, CHUNK_TREE, &file->tree) < 0 ||
            files_keep_text(files, table, row, CHUNK_ERROR_TYPE, &file->error_type) < 0 ||
            files_keep_text(files, table, row, CHUNK_ERROR_MESSAGE, &file->error_message) < 0)
                return ROAST_E_NOMEM;
        files_keep_largest(&file->tree_branches, chunk_table_get(table, row, CHUNK_TREE_BRANCHES));
        files_keep_largest(&file->tree_bytes, chunk_table_get(table, row, CHUNK_TREE_BYTES));
        if (outcome != CHUNK_FINISHED)
                return 0;
        files_add_real(&file->wall_s, v1_record_real(table, row, CHUNK_WALL_NS, 1e9));
        files_add_real(&file->cpu_s, v1_record_real(table, row, CHUNK_CPU_NS, 1e9));
        files_add_int(&file->events, chunk_table_get(table, row, CHUNK_NUM_EVENTS));
        files_add_int(&file->bytes, chunk_table_get(table, row, CHUNK_REQUESTED_BYTES));
        return 0;
}

static int files_add(const struct chunk_table *table, void *context, struct roast_error *error)
{
        struct files *files = context;

        for (size_t row = 0; row < table->n; row++) {
                struct file *file;

                if (chunk_table_get(table, row, CHUNK_OUTCOME) == CHUNK_GRAPH ||
                    chunk_table_get(table, row, CHUNK_FILE) == CHUNK_ABSENT)
                        continue;
                file = files_of_row(files, table, row);
                if (!file || files_add_chunk(files, file, table, row) < 0)
                        return roast_fail_nomem(error);
        }
        return 0;
}

static void files_put_kept(struct rows *rows, const struct files *files, int64_t number)
{
        size_t len = 0;
        const char *text = number < 0 ? NULL : intern_get(&files->strings, (size_t)number, &len);

        rows_text(rows, text, len);
}

static void files_put_row(struct rows *rows, const struct files *files, size_t i)
{
        const struct file *file = &files->files[i];
        int64_t attempts = 0;
        size_t len;
        const char *name = intern_get(&files->names, i, &len);

        for (size_t j = 0; j < CHUNK_N_OUTCOMES; j++)
                attempts += file->outcomes[j];
        rows_row(rows);
        rows_text(rows, name, len);
        files_put_kept(rows, files, file->dataset);
        files_put_kept(rows, files, file->tree);
        rows_int(rows, attempts);
        rows_int(rows, file->outcomes[CHUNK_FINISHED]);
        rows_int(rows, file->outcomes[CHUNK_FAILED]);
        rows_int(rows, file->outcomes[CHUNK_LOST]);
        rows_int(rows, file->outcomes[CHUNK_SKIPPED]);
        files_put_int(rows, file->events);
        rows_real(rows, file->wall_s);
        rows_real(rows, file->cpu_s);
        files_put_int(rows, file->bytes);
        files_put_int(rows, file->tree_branches);
        files_put_int(rows, file->tree_bytes);
        files_put_kept(rows, files, file->error_type);
        files_put_kept(rows, files, file->error_message);
        rows_row_end(rows);
}

int export_files(struct roast_run *run, const struct roast_export_options *options, struct out *out,
                 struct roast_error *error)
{
        ROAST_CLEANUP(files_release) struct files files = { 0 };
        struct rows rows;
        int r;

        r = run_records(run, BATCH, files_add, &files, error);
        rows_begin(&rows, out, options->format, file_columns, ROAST_ARRAY_SIZE(file_columns));
        for (size_t i = 0; i < files.n && r >= 0; i++) {
                files_put_row(&rows, &files, i);
                r = out_step(out, error);
        }
        rows_end(&rows);
        return r;
}
