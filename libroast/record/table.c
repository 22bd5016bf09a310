/* The table of chunk records in memory: see chunk.h. */

#include <stdlib.h>
#include <string.h>

#include "record/chunk.h"
#include "util/size.h"

const struct chunk_field_info chunk_fields[CHUNK_N_FIELDS] = {
#define CHUNK(id, name, type, ...) [CHUNK_##id] = { #name, CHUNK_TYPE_##type },
#include "record/fields.def"
#undef CHUNK
};

const char *const chunk_outcomes[CHUNK_N_OUTCOMES] = {
#define OUTCOME(id, number, name, ...) [number] = (name),
#include "record/outcomes.def"
#undef OUTCOME
};

int64_t chunk_outcome_of(const char *name)
{
        for (int i = 0; i < CHUNK_N_OUTCOMES; i++)
                if (!strcmp(name, chunk_outcomes[i]))
                        return i;
        return CHUNK_ABSENT;
}

void chunk_table_init(struct chunk_table *table)
{
        *table = (struct chunk_table){ 0 };
        table->sections.n_columns = 1 + SECTION_N_FIELDS;
        table->branches.n_columns = 2;
}

static void table_parts_deinit(struct chunk_parts *parts)
{
        for (size_t i = 0; i < parts->n_columns; i++)
                free(parts->columns[i]);
        free(parts->first);
}

void chunk_table_deinit(struct chunk_table *table)
{
        for (size_t i = 0; i < CHUNK_N_FIELDS; i++)
                free(table->columns[i]);
        table_parts_deinit(&table->sections);
        table_parts_deinit(&table->branches);
        intern_deinit(&table->strings);
        chunk_table_init(table);
}

void chunk_table_clear(struct chunk_table *table)
{
        table->n = 0;
        table->sections.n = 0;
        table->branches.n = 0;
        intern_clear(&table->strings);
}

/* The next capacity that holds `need` values, or 0 if none does. */
static size_t table_next_cap(size_t cap, size_t need)
{
        size_t bytes;

        if (cap < 4)
                cap = 4;
        while (cap < need)
                if (!size_mul(cap, 2, &cap))
                        return 0;
        return size_mul(cap, sizeof(int64_t), &bytes) ? cap : 0;
}

static int table_grow(int64_t **column, size_t cap)
{
        int64_t *grown = realloc(*column, cap * sizeof(**column));

        if (!grown)
                return ROAST_E_NOMEM;
        *column = grown;
        return 0;
}

int chunk_parts_reserve(struct chunk_parts *parts, size_t more)
{
        size_t need, cap;

        if (!size_add(parts->n, more, &need))
                return ROAST_E_NOMEM;
        if (need <= parts->cap)
                return 0;
        cap = table_next_cap(parts->cap, need);
        if (!cap)
                return ROAST_E_NOMEM;
        for (size_t i = 0; i < parts->n_columns; i++)
                if (table_grow(&parts->columns[i], cap) < 0)
                        return ROAST_E_NOMEM;
        parts->cap = cap;
        return 0;
}

static int table_grow_first(struct chunk_parts *parts, size_t cap)
{
        size_t *first = realloc(parts->first, (cap + 1) * sizeof(*first));

        if (!first)
                return ROAST_E_NOMEM;
        if (!parts->first)
                first[0] = 0;
        parts->first = first;
        return 0;
}

int chunk_table_reserve(struct chunk_table *table, size_t more)
{
        size_t need, cap;

        if (!size_add(table->n, more, &need) || need > SIZE_MAX / sizeof(size_t) - 1)
                return ROAST_E_NOMEM;
        if (need <= table->cap)
                return 0;
        cap = table_next_cap(table->cap, need);
        if (!cap)
                return ROAST_E_NOMEM;
        for (size_t i = 0; i < CHUNK_N_FIELDS; i++)
                if (table_grow(&table->columns[i], cap) < 0)
                        return ROAST_E_NOMEM;
        if (table_grow_first(&table->sections, cap) < 0 ||
            table_grow_first(&table->branches, cap) < 0)
                return ROAST_E_NOMEM;
        table->cap = cap;
        return 0;
}

int chunk_table_add(struct chunk_table *table)
{
        int r = chunk_table_reserve(table, 1);

        if (r < 0)
                return r;
        for (size_t i = 0; i < CHUNK_N_FIELDS; i++)
                table->columns[i][table->n] = CHUNK_ABSENT;
        table->n++;
        table->sections.first[table->n] = table->sections.n;
        table->branches.first[table->n] = table->branches.n;
        return 0;
}

int chunk_table_set_text(struct chunk_table *table, size_t row, enum chunk_field field,
                         const void *data, size_t len)
{
        int64_t number = intern_put(&table->strings, data, len);

        if (number < 0)
                return (int)number;
        table->columns[field][row] = number;
        return 0;
}

const char *chunk_table_text(const struct chunk_table *table, size_t row, enum chunk_field field,
                             size_t *len)
{
        int64_t number = table->columns[field][row];

        if (number == CHUNK_ABSENT) {
                *len = 0;
                return NULL;
        }
        return intern_get(&table->strings, (size_t)number, len);
}

/* One more part of the last chunk, whose values are for the caller to set */
static int table_add_part(struct chunk_table *table, struct chunk_parts *parts, const char *name,
                          size_t len)
{
        int64_t number;
        int r;

        if (table->n == 0)
                return ROAST_E_STATE;
        number = intern_put(&table->strings, name, len);
        if (number < 0)
                return (int)number;
        r = chunk_parts_reserve(parts, 1);
        if (r < 0)
                return r;
        parts->columns[0][parts->n] = number;
        parts->first[table->n] = ++parts->n;
        return 0;
}

int chunk_table_add_section(struct chunk_table *table, const char *name, size_t len,
                            const int64_t values[SECTION_N_FIELDS])
{
        struct chunk_parts *parts = &table->sections;
        int r = table_add_part(table, parts, name, len);

        for (size_t i = 0; r >= 0 && i < SECTION_N_FIELDS; i++)
                parts->columns[1 + i][parts->n - 1] = values[i];
        return r;
}

int chunk_table_add_branch(struct chunk_table *table, const char *name, size_t len, int64_t bytes)
{
        struct chunk_parts *parts = &table->branches;
        int r = table_add_part(table, parts, name, len);

        if (r >= 0)
                parts->columns[1][parts->n - 1] = bytes;
        return r;
}

static int table_copy_parts(struct chunk_table *table, struct chunk_parts *parts,
                            const struct chunk_table *from, const struct chunk_parts *from_parts,
                            size_t row)
{
        int r = 0;

        for (size_t i = from_parts->first[row]; r >= 0 && i < from_parts->first[row + 1]; i++) {
                size_t len;
                const char *name =
                        intern_get(&from->strings, (size_t)from_parts->columns[0][i], &len);

                r = table_add_part(table, parts, name, len);
                for (size_t j = 1; r >= 0 && j < parts->n_columns; j++)
                        parts->columns[j][parts->n - 1] = from_parts->columns[j][i];
        }
        return r;
}

int chunk_table_copy_row(struct chunk_table *table, const struct chunk_table *from, size_t row)
{
        int r = chunk_table_add(table);

        for (unsigned int i = 0; r >= 0 && i < CHUNK_N_FIELDS; i++) {
                size_t len;
                const char *text;

                if (chunk_fields[i].type == CHUNK_TYPE_INT) {
                        chunk_table_set(table, table->n - 1, i, chunk_table_get(from, row, i));
                } else {
                        text = chunk_table_text(from, row, i, &len);
                        if (text)
                                r = chunk_table_set_text(table, table->n - 1, i, text, len);
                }
        }
        if (r >= 0)
                r = table_copy_parts(table, &table->sections, from, &from->sections, row);
        if (r >= 0)
                r = table_copy_parts(table, &table->branches, from, &from->branches, row);
        return r;
}
