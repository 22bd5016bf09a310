#pragma once
/* What the tables of a run hold */

#include <stdbool.h>

#include "roast-run.h"
#include "util/size.h"

void assert_column(struct roast_run *run, const char *table, const char *name,
                   const int64_t *expected, size_t n);
/* A column has these values and no others; INT64_MIN: not known. */
#define ASSERT_COLUMN(run, table, name, ...)                                                       \
        assert_column(run, table, name, (const int64_t[]){ __VA_ARGS__ },                          \
                      ROAST_ARRAY_SIZE(((const int64_t[]){ __VA_ARGS__ })))

/* A fact that was looked for */
struct found {
        const char *name;
        bool found;
        struct roast_fact fact;
        char text[64]; /* its own copy: that of the fact does not last */
};

struct found find_fact(struct roast_run *run, const char *name);
/* Its whole number; -1: there is no such fact. */
int64_t fact_int(struct roast_run *run, const char *name);
