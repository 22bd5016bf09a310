#pragma once
/*
 * The bytes of chunk records
 *
 *   +------+-----------+--------+----------+--------------+-----------------+---------+------
 *   | 'RC' | version:1 | form:1 | rows:var | strings' raw | strings' stored | strings | bits
 *   |      |           |        |          | length:var   | length:var      |         |
 *   +------+-----------+--------+----------+--------------+-----------------+---------+------
 *
 * form is 0 for plain strings, 1 for those that zstd compressed. The strings are
 * their number:var, then each as length:var and bytes; the lowest bit of the length
 * tells that it is a UUID, whose 36 characters are stored as 16 bytes. The bits are
 * columns (see column.h), of which the first of each group is a number per row:
 *
 *   sections of each row, then name and fields of the sections
 *   branches of each row, then name and bytes of the branches
 *   the fields of the rows in the order of predict_at()
 *
 * all as differences to what they were predicted to be (see predict.h). Names and
 * text fields are numbers of strings.
 *
 * Invariant: decode(encode(table)) appends equal rows, for every table. A version
 * has exactly the fields of fields.def: writer and reader of these bytes are the same
 * version by construction (the collector ships the writer).
 */

#include "record/column.h"
#include "record/predict.h"
#include "record/uuid.h"

#define CODEC_VERSION 3
/* Bounds on what a hostile length can make us allocate */
#define CODEC_TEXT_MAX      ((uint64_t)1 << 28)
#define CODEC_RATIO_MAX     32768 /* zstd's densest block: 128 kB of the same byte in 4 */
#define CODEC_FREE_ROWS     4096  /* rows, sections and branches beyond these take bytes: */
#define CODEC_ROWS_PER_BYTE 64    /* so many of them fit into one at most */

enum codec_form { CODEC_PLAIN = 0, CODEC_ZSTD = 1 };

/* Room for one column and its contexts; small tables need no heap */
struct codec_work {
        size_t n_contexts;
        bool *present;
        int64_t *values; /* one more before the first */
        int64_t *scratch;
        int64_t *files; /* contexts: the number of each row's file and worker */
        int64_t *workers;
        struct column_context *memory;
        void *heap;
        _Alignas(16) char stack[12 << 10];
};

/* For columns of up to `n` values; ROAST_E_NOMEM. */
int codec_work_init(struct codec_work *work, size_t n, size_t n_strings);
void codec_work_deinit(struct codec_work *work);

struct column_rows codec_rows(const struct codec_work *work, size_t n, const int64_t *contexts);
/* The contexts of a field; NULL if it has none. */
const int64_t *codec_contexts(const struct codec_work *work, enum chunk_field field);
/* From a column of a table, and to one */
void codec_load(const struct codec_work *work, const int64_t *column, size_t n);
void codec_store(const struct codec_work *work, int64_t *column, size_t n);
/* The numbers of strings that were loaded as contexts; the last one stands for none. */
void codec_store_contexts(const struct codec_work *work, int64_t *contexts, size_t n);
