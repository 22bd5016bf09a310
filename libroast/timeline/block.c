/*
 * Compressed blocks of samples
 *
 *   +------+-----------+-----+-----+--------------------+-------+------+------+
 *   | 'RB' | version:1 | k:1 | n:v | {first:z head} k+1 | len:v | bits | code |
 *   +------+-----------+-----+-----+--------------------+-------+------+------+
 *
 *   :v  varint    :z  zigzag varint
 *
 * The columns are the time and the k series. A column is described by its first
 * value and by its head, in bytes:
 *
 *     0          all differences equal the drift: nothing else is stored
 *     1..64      the width of the column, which never falls
 *     65..128    64 + the width of the column, which also falls
 *     129 j      column j, which came before, plus a constant
 *     130 v      the scale as varint; the head goes on
 *     131 v      the drift as zigzag varint; the head goes on
 *
 * (see column.h for drift, scale and width). Columns with a width have coded
 * residuals: their plain bits are the `len` bytes of `bits`, their decisions the
 * `code`, one column after the other. Without such a column the block ends with
 * the heads; with n = 0 it ends with n.
 *
 * Invariant: decode(encode(x)) == x bit for bit, for every input. The decoder
 * accepts only blocks whose every byte it has used.
 */

#include <stdlib.h>
#include <string.h>

#include "timeline/block.h"
#include "timeline/column.h"
#include "util/cleanup.h"
#include "util/size.h"

#define BLOCK_VERSION 1

#define HEADER_BYTES_MAX (2 + 1 + 1 + 3)
/* the first value, a drift and a scale with their codes, the width */
#define HEAD_BYTES_MAX (10 + 11 + 11 + 1)

enum {
        HEAD_FALLS = 64,
        HEAD_LIKE = 129,
        HEAD_SCALE = 130,
        HEAD_DRIFT = 131,
};

static const uint8_t block_magic[2] = { 'R', 'B' };

void block_deinit(struct block *block)
{
        free(block->data);
        *block = (struct block)BLOCK_INIT;
}

struct encoder {
        struct buf *out;
        struct buf bits_buf, code_buf;
        struct bits_writer bits;
        struct range_encoder code;
        bool coded; /* some column has a width */
        int64_t *residuals;
        const int64_t **values; /* by column, the times first */
        struct column *columns;
};

static void block_encoder_deinit(struct encoder *encoder)
{
        free(encoder->residuals);
        buf_deinit(&encoder->bits_buf);
        buf_deinit(&encoder->code_buf);
}

/* An earlier column with the same differences, or `index` itself. */
static size_t block_find_like(const struct encoder *encoder, size_t index, size_t n)
{
        const struct column *column = &encoder->columns[index];

        for (size_t i = 0; i < index; i++) {
                const struct column *other = &encoder->columns[i];

                if (other->width == column->width && other->scale == column->scale &&
                    other->falls == column->falls && other->drift == column->drift &&
                    column_alike(encoder->values[i], encoder->values[index], n))
                        return i;
        }
        return index;
}

/* HEAD_BYTES_MAX are reserved for each column, so appending a head does not fail. */
static void block_put_head(struct buf *out, const struct column *column)
{
        if (column->drift) {
                buf_put_u8(out, HEAD_DRIFT);
                buf_put_zigzag(out, (int64_t)column->drift);
        }
        if (column->scale > 1) {
                buf_put_u8(out, HEAD_SCALE);
                buf_put_varint(out, column->scale);
        }
        buf_put_u8(out, (uint8_t)(column->width + (column->falls ? HEAD_FALLS : 0)));
}

static void block_encode_column(struct encoder *encoder, size_t index, size_t n)
{
        struct column *column = &encoder->columns[index];
        const int64_t *values = encoder->values[index];
        size_t like = index;

        *column = (struct column){ .drift = index == 0 ? column_usual_step(values, n) : 0 };
        column_measure(column, encoder->residuals, values, n);
        buf_put_zigzag(encoder->out, *values);
        if (column->width)
                like = block_find_like(encoder, index, n);
        if (like != index) {
                buf_put_u8(encoder->out, HEAD_LIKE);
                buf_put_u8(encoder->out, (uint8_t)like);
                return;
        }
        block_put_head(encoder->out, column);
        if (column->width) {
                column_encode(column, &encoder->code, &encoder->bits, encoder->residuals, n);
                encoder->coded = true;
        }
}

static int block_encode_columns(struct encoder *encoder, size_t n, size_t k)
{
        int r;

        encoder->residuals = malloc(n * sizeof(*encoder->residuals));
        if (!encoder->residuals)
                return ROAST_E_NOMEM;
        encoder->bits = (struct bits_writer){ .out = &encoder->bits_buf };
        range_encoder_init(&encoder->code, &encoder->code_buf);
        for (size_t i = 0; i < 1 + k; i++)
                block_encode_column(encoder, i, n);
        if (!encoder->coded)
                return 0;
        r = bits_writer_finish(&encoder->bits);
        if (r < 0)
                return r;
        r = range_encoder_finish(&encoder->code);
        if (r < 0)
                return r;
        r = buf_put_bytes(encoder->out, encoder->bits_buf.data, encoder->bits_buf.len);
        if (r < 0)
                return r;
        return buf_append(encoder->out, encoder->code_buf.data, encoder->code_buf.len);
}

int block_encode(struct buf *out, const int64_t *times, const int64_t *const *series, size_t n,
                 size_t k, struct roast_error *error)
{
        const int64_t *values[1 + BLOCK_SERIES_MAX]; /* not cleared: few of them are used */
        struct column columns[1 + BLOCK_SERIES_MAX];
        ROAST_CLEANUP(block_encoder_deinit)
        struct encoder encoder = { .out = out, .values = values, .columns = columns };
        size_t start = out->len;

        if (n > BLOCK_ROWS_MAX || k > BLOCK_SERIES_MAX)
                return roast_fail(error, ROAST_E_INVALID,
                                  "%zu rows of %zu series do not fit into one block", n, k);
        if (buf_reserve(out, HEADER_BYTES_MAX + (1 + k) * HEAD_BYTES_MAX) < 0)
                return roast_fail_nomem(error);
        buf_append(out, block_magic, sizeof(block_magic));
        buf_put_u8(out, BLOCK_VERSION);
        buf_put_u8(out, (uint8_t)k);
        buf_put_varint(out, n);
        if (n == 0)
                return 0;
        *values = times;
        for (size_t i = 0; i < k; i++)
                values[1 + i] = series[i];
        if (block_encode_columns(&encoder, n, k) < 0) {
                out->len = start;
                return roast_fail_nomem(error);
        }
        return 0;
}

struct head {
        struct column column;
        bool is_like;
        uint8_t like;
};

/* The head of column `index`; false if there is no such head. */
static bool block_take_head(struct head *head, struct cursor *cursor, size_t index)
{
        *head = (struct head){ .column.scale = 1 };
        for (;;) {
                uint8_t code = cursor_u8(cursor);

                if (cursor->bad)
                        return false;
                if (code == HEAD_DRIFT) {
                        head->column.drift = (uint64_t)cursor_zigzag(cursor);
                } else if (code == HEAD_SCALE) {
                        head->column.scale = cursor_varint(cursor);
                } else if (code == HEAD_LIKE) {
                        head->is_like = true;
                        head->like = cursor_u8(cursor);
                        return !cursor->bad && head->like < index;
                } else {
                        head->column.falls = code > HEAD_FALLS;
                        head->column.width = code > HEAD_FALLS ? code - HEAD_FALLS : code;
                        return code <= 2 * HEAD_FALLS;
                }
        }
}

struct decoder {
        struct bits_reader bits;
        struct range_decoder code;
        struct head *heads; /* by column */
};

static bool block_take_streams(struct decoder *decoder, struct cursor *cursor)
{
        decoder->bits.data = cursor_bytes(cursor, &decoder->bits.len);
        return !cursor->bad && range_decoder_init(&decoder->code, cursor->at, cursor_left(cursor));
}

static void block_decode_column(struct decoder *decoder, struct block *block, size_t index)
{
        const struct head *head = &decoder->heads[index];
        int64_t *values = block->data + index * block->n;

        if (head->is_like)
                column_shift(values, block->data + head->like * block->n, block->n);
        else if (head->column.width == 0)
                column_run(values, head->column.drift, block->n);
        else
                column_decode(&head->column, &decoder->code, &decoder->bits, values, block->n);
}

/* The first `wanted` columns; what is behind them in the streams is not looked at. */
static bool block_decode_columns(struct block *block, struct cursor *cursor, size_t wanted)
{
        struct head heads[1 + BLOCK_SERIES_MAX]; /* not cleared: few of them are used */
        struct decoder decoder = { .heads = heads };
        bool coded = false;

        for (size_t i = 0; i < 1 + block->k; i++) {
                int64_t first = cursor_zigzag(cursor);

                if (i < wanted)
                        block->data[i * block->n] = first;
                if (!block_take_head(&heads[i], cursor, i))
                        return false;
                coded |= heads[i].column.width > 0;
        }
        if (coded ? !block_take_streams(&decoder, cursor) : cursor_left(cursor) > 0)
                return false;
        for (size_t i = 0; i < wanted; i++)
                block_decode_column(&decoder, block, i);
        if (!coded)
                return true;
        if (wanted <= block->k) /* they did not read past the end, which gives zeroes */
                return decoder.bits.at <= 8 * (uint64_t)decoder.bits.len &&
                       decoder.code.missing <= 1;
        return bits_reader_finish(&decoder.bits) && range_decoder_finish(&decoder.code);
}

static int block_resize(struct block *block, size_t n, size_t n_columns)
{
        size_t need = n ? n * n_columns : 1;

        if (need > block->cap) {
                int64_t *data = malloc(need * sizeof(*data));

                if (!data)
                        return ROAST_E_NOMEM;
                free(block->data);
                block->data = data;
                block->cap = need;
        }
        block->times = block->data;
        block->values = block->data + n;
        return 0;
}

/* What stands before the columns */
static int block_take_sizes(struct cursor *cursor, size_t *ret_n, size_t *ret_k,
                            struct roast_error *error)
{
        const uint8_t *magic = cursor_take(cursor, sizeof(block_magic));
        uint8_t version = cursor_u8(cursor);
        uint8_t k = cursor_u8(cursor);
        uint64_t n = cursor_varint(cursor);

        if (!magic || memcmp(magic, block_magic, sizeof(block_magic)) != 0)
                return roast_fail(error, ROAST_E_FORMAT, "this is not a block of samples");
        if (version > BLOCK_VERSION)
                return roast_fail(error, ROAST_E_VERSION,
                                  "the block of samples has version %u, known are those up to %d",
                                  version, BLOCK_VERSION);
        if (cursor->bad || version == 0 || n > BLOCK_ROWS_MAX)
                return roast_fail(error, ROAST_E_CORRUPT, "the block of samples is damaged");
        *ret_n = (size_t)n;
        *ret_k = k;
        return 0;
}

static int block_decode_part(struct block *block, const void *data, size_t len, size_t columns_max,
                             struct roast_error *error)
{
        struct cursor cursor = cursor_init(data, len);
        size_t n = 0, k = 0, wanted;
        int r;

        block->n = block->k = 0;
        r = block_take_sizes(&cursor, &n, &k, error);
        if (r < 0)
                return r;
        wanted = 1 + k < columns_max ? 1 + k : columns_max;
        if (block_resize(block, n, wanted) < 0)
                return roast_fail_nomem(error);
        block->n = n;
        block->k = k;
        if (n == 0 ? cursor_left(&cursor) > 0 : !block_decode_columns(block, &cursor, wanted)) {
                block->n = block->k = 0;
                return roast_fail(error, ROAST_E_CORRUPT, "the block of samples is damaged");
        }
        return 0;
}

int block_decode(struct block *block, const void *data, size_t len, struct roast_error *error)
{
        return block_decode_part(block, data, len, 1 + BLOCK_SERIES_MAX, error);
}

int block_decode_times(struct block *block, const void *data, size_t len, struct roast_error *error)
{
        return block_decode_part(block, data, len, 1, error);
}

int block_move(struct buf *out, const void *data, size_t len, int64_t offset,
               struct roast_error *error)
{
        struct cursor cursor = cursor_init(data, len);
        size_t n = 0, k = 0, start = out->len;
        const uint8_t *first;
        uint64_t time;
        int r;

        r = block_take_sizes(&cursor, &n, &k, error);
        if (r < 0)
                return r;
        first = cursor.at;
        time = n ? (uint64_t)cursor_zigzag(&cursor) + (uint64_t)offset : 0;
        if (cursor.bad)
                return roast_fail(error, ROAST_E_CORRUPT, "the block of samples is damaged");
        if (buf_append(out, data, (size_t)(first - (const uint8_t *)data)) < 0 ||
            (n && buf_put_zigzag(out, (int64_t)time) < 0) ||
            buf_append(out, cursor.at, cursor_left(&cursor)) < 0) {
                out->len = start;
                return roast_fail_nomem(error);
        }
        return 0;
}
