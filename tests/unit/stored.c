/* What the tables of a run hold: see stored.h. */

#include "unit.h"

#include <stdio.h>
#include <stdlib.h>

#include "stored.h"

void assert_column(struct roast_run *run, const char *table, const char *name,
                   const int64_t *expected, size_t n)
{
        struct roast_run_column column = { .name = name };

        assert_int_equal(roast_run_read_columns(run, table, &column, 1, NULL), 0);
        assert_int_equal(column.n, n);
        for (size_t i = 0; i < n; i++)
                if (column.values[i] != expected[i])
                        fail_msg("%s.%s of row %zu is %lld", table, name, i,
                                 (long long)column.values[i]);
        free(column.values);
}

static int note_fact(const struct roast_fact *fact, void *context)
{
        struct found *found = context;

        if (strcmp(fact->name, found->name) != 0)
                return 0;
        found->found = true;
        found->fact = *fact;
        snprintf(found->text, sizeof(found->text), "%s", fact->text ? fact->text : "");
        return 1;
}

struct found find_fact(struct roast_run *run, const char *name)
{
        struct found found = { .name = name };

        assert_int_equal(roast_run_facts(run, note_fact, &found, NULL), 0);
        return found;
}

int64_t fact_int(struct roast_run *run, const char *name)
{
        struct found found = find_fact(run, name);

        return found.found ? found.fact.integer : -1;
}
