#pragma once
/*
 * One column of records as bits
 *
 *     shape     2 bits    absent, all zero, one value for all rows, coded
 *     sparse    1 bit     some rows have no value: the lengths of the runs of rows
 *                         without and with one follow in turn
 *     scaled    1 bit     first value and scale follow: what is coded is how often
 *                         the scale fits into the difference to the first one
 *     mean      1 bit     differences are to a moving mean of the context, not to
 *                         its last value
 *     runs      1 bit     a difference follows the number of zero ones before it
 *
 * The last four only if coded. A row's context is a small number, of the worker,
 * the file or the section's name: values of one context are like each other. All
 * arithmetic is modulo 2^64.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/rice.h"

struct column_context {
        struct rice rice;
        int64_t expected;
        bool begun;
};

struct column_rows {
        size_t n;
        bool *present;           /* [n]: whether a row has a value */
        int64_t *values;         /* [n]; of no meaning where there is none */
        const int64_t *contexts; /* [n], of those not below n_contexts 0 is meant; NULL: all 0 */
        bool chained;            /* a row's context is the value of the row before */
        size_t n_contexts;
        struct column_context *memory; /* [n_contexts], for the coder's own use */
        int64_t *scratch;              /* [n], as well */
};

/* Leaves other numbers in `values`. */
void record_column_encode(const struct column_rows *rows, struct bits_writer *out);
/* Fills in `present` and `values`; false if the bits are damaged. */
bool record_column_decode(const struct column_rows *rows, struct bits_reader *in);
