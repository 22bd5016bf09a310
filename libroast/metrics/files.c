/* Files, and the bytes of their chunks: see files.h. */

#include <stdlib.h>
#include <string.h>

#include "metrics/bytes.h"
#include "metrics/files.h"
#include "record/chunk.h"
#include "util/text.h"

struct file_row {
        int64_t dataset; /* numbers of the names; 0: none */
        int64_t tree;
        size_t next;               /* with the same name, + 1 */
        int64_t touched, selected; /* of the first chunk that tells them */
        bool told, mixed;
};

struct cut_chunk {
        size_t row;
        int64_t start;
        int64_t bytes;
};

struct last_chunk {
        int64_t start, stop;
};

int files_init(struct files *files, struct collect *collect)
{
        size_t n = collect->texts.n + 1;

        *files = (struct files){ .collect = collect };
        files->slots = calloc(n, sizeof(*files->slots));
        files->last = calloc(n, sizeof(*files->last));
        return files->slots && files->last ? 0 : ROAST_E_NOMEM;
}

void files_deinit(struct files *files)
{
        free(files->rows);
        free(files->slots);
        free(files->last);
        free(files->cuts);
        free(files->of_chunk);
        run_seen_deinit(&files->ends);
        *files = (struct files){ 0 };
}

/* The number of a name; 0: none. */
static int64_t name_of(const struct files *files, const struct run_value *value)
{
        size_t len;

        return collect_text(files->collect, value, &len) ? value->integer : 0;
}

static int copy_name(const struct files *files, char **ret, int64_t number)
{
        const struct run_value value = run_int(number);
        size_t len;
        const char *name = collect_text(files->collect, &value, &len);

        *ret = name ? text_copy(name, len) : NULL;
        return name && !*ret ? ROAST_E_NOMEM : 0;
}

/* An array of n elements with room for one more; NULL: no memory, and it is as it was. */
static void *room(void *array, size_t *cap, size_t n, size_t size)
{
        size_t more = *cap ? *cap * 2 : 64;
        void *grown;

        if (n < *cap)
                return array;
        grown = realloc(array, more * size);
        if (grown)
                *cap = more;
        return grown;
}

static int add_row(struct files *files, const struct file_row *row, int64_t name)
{
        struct roast_summary *summary = files->collect->summary;
        size_t cap = files->cap, n = summary->n_files;
        struct file_row *rows;
        struct roast_file *file;

        rows = room(files->rows, &cap, n, sizeof(*rows));
        if (!rows)
                return ROAST_E_NOMEM;
        files->rows = rows;
        file = room(summary->files, &files->cap, n, sizeof(*file));
        if (!file)
                return ROAST_E_NOMEM;
        summary->files = file;
        rows[n] = *row;
        file += n;
        *file = (struct roast_file){ 0 };
        summary->n_files++;
        if (copy_name(files, &file->name, name) < 0 ||
            copy_name(files, &file->tree, row->tree) < 0 ||
            copy_name(files, &file->dataset, row->dataset) < 0)
                return ROAST_E_NOMEM;
        files->slots[name] = n + 1;
        return 0;
}

/* The row + 1 of a chunk's file; 0: there is none. */
static size_t find_row(const struct files *files, const struct run_value *values)
{
        int64_t dataset = name_of(files, &values[CHUNK_DATASET]);
        int64_t tree = name_of(files, &values[CHUNK_TREE]);
        size_t at = files->slots[name_of(files, &values[CHUNK_FILE])];

        while (at && (files->rows[at - 1].dataset != dataset || files->rows[at - 1].tree != tree))
                at = files->rows[at - 1].next;
        return at;
}

static int row_of(struct files *files, size_t *ret, const struct run_value *values)
{
        int64_t name = name_of(files, &values[CHUNK_FILE]);
        size_t at = find_row(files, values);

        if (!at) {
                struct file_row row = { .dataset = name_of(files, &values[CHUNK_DATASET]),
                                        .tree = name_of(files, &values[CHUNK_TREE]),
                                        .next = files->slots[name] };

                if (add_row(files, &row, name) < 0)
                        return ROAST_E_NOMEM;
                at = files->slots[name];
        }
        *ret = at - 1;
        return 0;
}

static int64_t int_or_0(const struct run_value *value)
{
        return value->type == RUN_INT ? value->integer : 0;
}

static uint64_t end_key(size_t row, int64_t entry)
{
        const uint64_t parts[] = { row, (uint64_t)entry };

        return run_hash(0, parts, sizeof(parts));
}

/* Branches of the tree and what of them was touched, which chunks of one file mostly agree on */
static void note_tree(struct files *files, size_t n, struct roast_file *file,
                      const struct run_value *values)
{
        struct file_row *row = &files->rows[n];
        int64_t touched = int_or_0(&values[CHUNK_TOUCHED_BRANCHES]);
        int64_t selected = int_or_0(&values[CHUNK_SELECTED_BYTES]);

        if (values[CHUNK_TREE_BYTES].type != RUN_INT ||
            values[CHUNK_TOUCHED_BRANCHES].type != RUN_INT)
                return;
        file->bytes.trees = 1;
        file->bytes.tree_branches = int_or_0(&values[CHUNK_TREE_BRANCHES]);
        file->bytes.tree_bytes = int_or_0(&values[CHUNK_TREE_BYTES]);
        if (row->told && (touched != row->touched || selected != row->selected))
                row->mixed = files->mixed = true;
        if (!row->told || touched > row->touched) {
                file->bytes.touched_branches = row->touched = touched;
                file->bytes.touched_bytes = row->selected = selected;
        }
        row->told = true;
}

/*
 * The kernel counts for the process: what another chunk read there meanwhile is in both. Records
 * come in the order in which chunks ended, so the one before tells.
 */
static bool beside_another(struct files *files, const struct run_value *values)
{
        struct last_chunk *last = &files->last[name_of(files, &values[CHUNK_WORKER])];
        int64_t start = int_or_0(&values[CHUNK_START_UTC_NS]);
        struct last_chunk now = { start, stat_sum_int(start, int_or_0(&values[CHUNK_WALL_NS])) };
        bool beside = now.start < last->stop && last->start < now.stop;
        *last = now;
        return beside;
}

static int note_cut(struct files *files, size_t row, const struct run_value *values)
{
        int64_t start = int_or_0(&values[CHUNK_ENTRY_START]);
        int64_t bytes = int_or_0(&values[CHUNK_CUT_BYTES]);
        struct cut_chunk *cuts;

        if (run_seen_add(&files->ends, end_key(row, int_or_0(&values[CHUNK_ENTRY_STOP]))) < 0)
                return ROAST_E_NOMEM;
        if (bytes <= 0)
                return 0;
        cuts = room(files->cuts, &files->cap_cuts, files->n_cuts, sizeof(*cuts));
        if (!cuts)
                return ROAST_E_NOMEM;
        files->cuts = cuts;
        cuts[files->n_cuts++] = (struct cut_chunk){ row, start, bytes };
        return 0;
}

static int note_row_of_chunk(struct files *files, int64_t id, size_t row)
{
        if (id < 1 || (uint64_t)id > UINT32_MAX || row >= UINT32_MAX)
                return 0;
        while ((size_t)id > files->cap_chunks) {
                size_t before = files->cap_chunks;
                uint32_t *grown = room(files->of_chunk, &files->cap_chunks, before, sizeof(*grown));

                if (!grown)
                        return ROAST_E_NOMEM;
                files->of_chunk = grown;
                memset(grown + before, 0, (files->cap_chunks - before) * sizeof(*grown));
        }
        files->of_chunk[id - 1] = (uint32_t)row + 1;
        return 0;
}

int files_add(struct files *files, int64_t id, const struct run_value *values, int64_t outcome)
{
        struct roast_file *file;
        size_t row;

        if (row_of(files, &row, values) < 0)
                return ROAST_E_NOMEM;
        file = &files->collect->summary->files[row];
        if (outcome != CHUNK_FINISHED) {
                file->failed += outcome != CHUNK_LOST;
                file->lost += outcome == CHUNK_LOST;
                return 0;
        }
        file->finished++;
        file->events = stat_sum_int(file->events, int_or_0(&values[CHUNK_NUM_EVENTS]));
        file->wall_s += (double)int_or_0(&values[CHUNK_WALL_NS]) / 1e9;
        bytes_add_chunk(&file->bytes, values);
        if (values[CHUNK_RCHAR_BYTES].type == RUN_INT)
                file->bytes.beside |= beside_another(files, values);
        note_tree(files, row, file, values);
        if (note_cut(files, row, values) < 0)
                return ROAST_E_NOMEM;
        return note_row_of_chunk(files, id, row);
}

uint64_t files_key(const struct files *files, const struct run_value *values)
{
        return end_key(find_row(files, values) - 1, int_or_0(&values[CHUNK_ENTRY_STOP]));
}

bool files_finished(const struct files *files, uint64_t key)
{
        return run_seen_has(&files->ends, key);
}

int64_t files_of_chunk(const struct files *files, int64_t id)
{
        if (id < 1 || (uint64_t)id > files->cap_chunks)
                return -1;
        return (int64_t)files->of_chunk[id - 1] - 1;
}

bool files_is_mixed(const struct files *files, size_t row)
{
        return files->rows[row].mixed;
}

void files_set_touched(struct files *files, size_t row, const struct coverage *coverage)
{
        struct roast_bytes *bytes = &files->collect->summary->files[row].bytes;

        bytes->touched_branches = (int64_t)coverage->branches;
        bytes->touched_bytes = (int64_t)fmin(coverage->bytes, (double)bytes->tree_bytes);
        bytes->touched_estimated = coverage->estimated;
}

/* A basket that a border cuts is read by the chunks on both sides, if both are there. */
static void sum_cuts(struct files *files)
{
        struct roast_file *all = files->collect->summary->files;

        for (size_t i = 0; i < files->n_cuts; i++) {
                const struct cut_chunk *cut = &files->cuts[i];
                struct roast_bytes *bytes = &all[cut->row].bytes;

                if (!run_seen_has(&files->ends, end_key(cut->row, cut->start)))
                        continue;
                bytes->cut_chunks++;
                bytes->again = stat_sum_int(bytes->again, cut->bytes);
        }
}

static int by_time(const void *a, const void *b)
{
        const struct roast_file *x = a, *y = b;

        if (x->wall_s != y->wall_s)
                return x->wall_s < y->wall_s ? 1 : -1;
        return strcmp(x->name ? x->name : "", y->name ? y->name : "");
}

int files_end(struct files *files, const size_t *dataset_slots)
{
        struct roast_summary *summary = files->collect->summary;

        sum_cuts(files);
        for (size_t i = 0; i < summary->n_files; i++) {
                struct roast_bytes *bytes = &summary->files[i].bytes;
                size_t dataset = dataset_slots[files->rows[i].dataset];

                bytes->mixed = files->rows[i].mixed;
                bytes_add(&summary->bytes, bytes);
                if (dataset)
                        bytes_add(&summary->datasets[dataset - 1].bytes, bytes);
        }
        if (summary->n_files)
                qsort(summary->files, summary->n_files, sizeof(*summary->files), by_time);
        return bytes_set(&summary->metrics, &summary->bytes);
}
