/* The same units in several runs: see match.h. */

#include <stdlib.h>

#include "analyze/match.h"
#include "run/seal.h"
#include "util/cleanup.h"

/* Keys to numbers: open addressing, number + 1, 0 is free */
struct table {
        uint64_t *keys;
        uint32_t *numbers;
        size_t mask;
};

static int match_table_init(struct table *table, size_t n)
{
        size_t size = 16;

        while (size < 2 * n)
                size *= 2;
        table->keys = malloc(size * sizeof(*table->keys));
        table->numbers = calloc(size, sizeof(*table->numbers));
        table->mask = size - 1;
        return table->keys && table->numbers ? 0 : ROAST_E_NOMEM;
}

static void match_table_deinit(struct table *table)
{
        free(table->keys);
        free(table->numbers);
}

/* The number of a key, or UINT32_MAX */
static uint32_t match_table_get(const struct table *table, uint64_t key)
{
        for (size_t at = key & table->mask; table->numbers[at]; at = (at + 1) & table->mask)
                if (table->keys[at] == key)
                        return table->numbers[at] - 1;
        return UINT32_MAX;
}

/* Whether it is new */
static bool match_table_put(struct table *table, uint64_t key, uint32_t number)
{
        size_t at = key & table->mask;

        for (; table->numbers[at]; at = (at + 1) & table->mask)
                if (table->keys[at] == key)
                        return false;
        table->keys[at] = key;
        table->numbers[at] = number + 1;
        return true;
}

/* Whether the uuids tell the files of a run apart; 1, 0 or ROAST_E_NOMEM */
static int match_has_uuids(const struct costs *costs)
{
        ROAST_CLEANUP(match_table_deinit) struct table table = { 0 };

        if (match_table_init(&table, costs->n_files) < 0)
                return ROAST_E_NOMEM;
        for (size_t i = 0; i < costs->n_files; i++)
                if (!costs->file_uuid[i] ||
                    !match_table_put(&table, costs->file_uuid[i], (uint32_t)i))
                        return 0;
        return 1;
}

static int match_all_have_uuids(const struct costs *const *runs, size_t n)
{
        int r = 1;

        for (size_t i = 0; i < n && r > 0; i++)
                r = match_has_uuids(runs[i]);
        return r;
}

static uint64_t match_key_of(const struct costs *costs, size_t unit, bool uuids, bool whole_files)
{
        uint32_t file = costs->file[unit];
        uint64_t key = uuids ? costs->file_uuid[file] : costs->file_name[file];
        int64_t range[2] = { costs->entry_start[unit], costs->entry_stop[unit] };

        if (!key || (!whole_files && (range[0] == INT64_MIN || range[1] == INT64_MIN)))
                return 0; /* not known */
        return whole_files ? run_hash(key, NULL, 0) : run_hash(key, range, sizeof(range));
}

/* Keeps, of what is matched so far, what is in one more run. */
static int match_narrow(struct match *match, uint64_t *keys, const struct costs *costs, size_t run,
                        bool uuids, bool whole_files)
{
        ROAST_CLEANUP(match_table_deinit) struct table table = { 0 };
        size_t n = 0;

        if (match_table_init(&table, costs->n) < 0)
                return ROAST_E_NOMEM;
        for (size_t i = 0; i < costs->n; i++) {
                uint64_t key = match_key_of(costs, i, uuids, whole_files);

                if (key)
                        match_table_put(&table, key, (uint32_t)i);
        }
        for (size_t i = 0; i < match->n; i++) {
                uint32_t unit = match_table_get(&table, keys[i]);

                if (unit == UINT32_MAX)
                        continue;
                keys[n] = keys[i];
                for (size_t j = 0; j < run; j++)
                        match->index[j][n] = match->index[j][i];
                match->index[run][n++] = unit;
        }
        match->n = n;
        return 0;
}

/* The units of the first run, each once */
static int match_begin(struct match *match, uint64_t *keys, const struct costs *costs, bool uuids,
                       bool whole_files)
{
        ROAST_CLEANUP(match_table_deinit) struct table table = { 0 };
        size_t n = 0;

        if (match_table_init(&table, costs->n) < 0)
                return ROAST_E_NOMEM;
        for (size_t i = 0; i < costs->n; i++) {
                uint64_t key = match_key_of(costs, i, uuids, whole_files);

                if (!key || !match_table_put(&table, key, (uint32_t)i))
                        continue;
                keys[n] = key;
                match->index[0][n++] = (uint32_t)i;
        }
        match->n = n;
        return 0;
}

int match_units(struct match *match, const struct costs *const *runs, size_t n_runs,
                bool whole_files)
{
        ROAST_CLEANUP(cleanup_free) uint64_t *keys = malloc((runs[0]->n + 1) * sizeof(*keys));
        int uuids = match_all_have_uuids(runs, n_runs), r = 0;

        *match = (struct match){ .n_runs = n_runs };
        match->index = calloc(n_runs, sizeof(*match->index));
        if (!keys || !match->index || uuids < 0)
                r = ROAST_E_NOMEM;
        for (size_t i = 0; i < n_runs && r >= 0; i++) {
                match->index[i] = malloc((runs[0]->n + 1) * sizeof(**match->index));
                if (!match->index[i])
                        r = ROAST_E_NOMEM;
        }
        if (r >= 0)
                r = match_begin(match, keys, runs[0], uuids, whole_files);
        for (size_t i = 1; i < n_runs && r >= 0; i++)
                r = match_narrow(match, keys, runs[i], i, uuids, whole_files);
        if (r < 0)
                match_deinit(match);
        return r;
}

void match_deinit(struct match *match)
{
        for (size_t i = 0; match->index && i < match->n_runs; i++)
                free(match->index[i]);
        free(match->index);
        *match = (struct match){ 0 };
}

int match_count_files(const struct costs *a, const struct costs *b, size_t *common)
{
        ROAST_CLEANUP(match_table_deinit) struct table table = { 0 };
        const struct costs *both[] = { a, b };
        int uuids = match_all_have_uuids(both, 2);

        *common = 0;
        if (uuids < 0 || match_table_init(&table, b->n_files) < 0)
                return ROAST_E_NOMEM;
        for (size_t i = 0; i < b->n_files; i++)
                match_table_put(&table, uuids ? b->file_uuid[i] : b->file_name[i], (uint32_t)i);
        for (size_t i = 0; i < a->n_files; i++)
                *common += match_table_get(&table, uuids ? a->file_uuid[i] : a->file_name[i]) !=
                           UINT32_MAX;
        return 0;
}
