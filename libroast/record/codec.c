/*
 * The bytes of chunk records
 *
 *   +------+-----------+--------+----------+----------------+---------
 *   | 'RC' | version:1 | form:1 | rows:var | raw length:var | payload
 *   +------+-----------+--------+----------+----------------+---------
 *
 * form is 0 for a plain payload, 1 for one that zstd compressed (it is kept
 * only where it is smaller). The payload is
 *
 *   strings:var, then each as length:var and bytes
 *   columns of the chunks, ended by key 0
 *   sections: for each row their number, then their columns, ended by key 0
 *   branches: the same
 *
 * and a column is
 *
 *   +-----------+---------+----------------------------------------
 *   | key:var   | shape:1 | 0: one zigzag, the value of every row
 *   | field + 1 |         | 1: zigzag difference to the row before
 *   |           |         | 2: a bitmap of the rows that have a value, then as 1 for those
 *   +-----------+---------+----------------------------------------
 *
 * A field of which no row has a value has no column. Values that follow from
 * others in the ordinary case are stored as the difference to what they would
 * be (see `predict`), so that they take no room: the last part of the wall time
 * is what the others leave, a section that ran once has min = max = total.
 *
 * Invariant: decode(encode(table)) appends equal rows, for every table that
 * encode() takes. Fields
 * that a reader does not know are refused: writer and reader of these bytes are
 * the same version by construction (the collector ships the writer).
 */

#include <stdlib.h>
#include <string.h>

#include <zstd.h>
#include <zstd_errors.h>

#include "record/chunk.h"
#include "util/cleanup.h"

#define CODEC_VERSION 1
#define CODEC_LEVEL   3
/* Below this zstd cannot win back its header. */
#define CODEC_COMPRESS_MIN 160
/* A bound on what a hostile length can make us allocate. */
#define CODEC_RAW_MAX ((uint64_t)1 << 28)
/* zstd's densest block: 128 kB of the same byte in 4 */
#define CODEC_RATIO_MAX 32768

enum { FORM_PLAIN = 0, FORM_ZSTD = 1 };
enum { SHAPE_CONSTANT = 0, SHAPE_DENSE = 1, SHAPE_SPARSE = 2 };

/* A set of columns of equal length: a table's, or its parts' */
struct columns {
        int64_t **data;
        size_t n_columns;
        size_t from; /* rows before this one are not ours */
        size_t to;
        /* what the value of a column in a row would ordinarily be, from columns before it */
        int64_t (*predict)(int64_t *const *data, size_t column, size_t row);
};

/*
 * How many sections, or branches, a payload may have: parts that are all alike
 * take no room, and such a number must not make a reader allocate without bound.
 */
static size_t parts_max(size_t raw_len)
{
        size_t max = 1024 + 16 * raw_len;

        return max < CHUNK_PARTS_MAX ? max : CHUNK_PARTS_MAX;
}

static int64_t wrap_sub(int64_t a, int64_t b)
{
        return (int64_t)((uint64_t)a - (uint64_t)b);
}

static int64_t wrap_add(int64_t a, int64_t b)
{
        return (int64_t)((uint64_t)a + (uint64_t)b);
}

static int64_t value_or_0(int64_t value)
{
        return value == CHUNK_ABSENT ? 0 : value;
}

static int64_t predict_chunk(int64_t *const *data, size_t column, size_t row)
{
        int64_t value = 0;

        switch (column) {
        case CHUNK_ENTRY_STOP:
                return value_or_0(data[CHUNK_ENTRY_START][row]);
        case CHUNK_NUM_EVENTS:
                return wrap_sub(value_or_0(data[CHUNK_ENTRY_STOP][row]),
                                value_or_0(data[CHUNK_ENTRY_START][row]));
        case CHUNK_CPU_NS:
                return value_or_0(data[CHUNK_WALL_NS][row]);
        case CHUNK_OTHER_NS:
                value = value_or_0(data[CHUNK_WALL_NS][row]);
                for (size_t i = CHUNK_CPU_NS; i < CHUNK_OTHER_NS; i++)
                        value = wrap_sub(value, value_or_0(data[i][row]));
                return value;
        case CHUNK_RSS_END_BYTES:
                return value_or_0(data[CHUNK_RSS_START_BYTES][row]);
        case CHUNK_RSS_PEAK_BYTES:
                return value_or_0(data[CHUNK_RSS_END_BYTES][row]);
        case CHUNK_RCHAR_BYTES:
                return value_or_0(data[CHUNK_READ_BYTES][row]);
        case CHUNK_REQUESTED_BYTES:
                return value_or_0(data[CHUNK_RCHAR_BYTES][row]);
        default:
                return 0;
        }
}

static int64_t predict_section(int64_t *const *data, size_t column, size_t row)
{
        int64_t count = value_or_0(data[1 + SECTION_COUNT][row]);
        int64_t total = value_or_0(data[1 + SECTION_TOTAL_NS][row]);

        if (column == 1 + SECTION_SELF_NS)
                return total;
        if (column == 1 + SECTION_MIN_NS || column == 1 + SECTION_MAX_NS)
                return count > 0 ? total / count : 0;
        if (column == 1 + SECTION_RSS_END_BYTES)
                return value_or_0(data[1 + SECTION_RSS_START_BYTES][row]);
        if (column == 1 + SECTION_RSS_DELTA_BYTES)
                return wrap_sub(value_or_0(data[1 + SECTION_RSS_END_BYTES][row]),
                                value_or_0(data[1 + SECTION_RSS_START_BYTES][row]));
        return 0;
}

static int64_t predict_nothing(int64_t *const *data, size_t column, size_t row)
{
        (void)data;
        (void)column;
        (void)row;
        return 0;
}

static int64_t residual(const struct columns *columns, size_t column, size_t row)
{
        return wrap_sub(columns->data[column][row], columns->predict(columns->data, column, row));
}

static int encode_bitmap(const struct columns *columns, size_t column, struct buf *out)
{
        uint8_t byte = 0;
        int r = 0;

        for (size_t row = columns->from; row < columns->to && r >= 0; row++) {
                size_t bit = (row - columns->from) % 8;

                if (columns->data[column][row] != CHUNK_ABSENT)
                        byte = (uint8_t)(byte | 1u << bit);
                if (bit == 7 || row + 1 == columns->to) {
                        r = buf_put_u8(out, byte);
                        byte = 0;
                }
        }
        return r;
}

static int encode_column(const struct columns *columns, size_t column, struct buf *out)
{
        const int64_t *data = columns->data[column];
        size_t n_present = 0;
        bool constant = true;
        int64_t before = 0;
        int r;

        for (size_t row = columns->from; row < columns->to; row++) {
                n_present += data[row] != CHUNK_ABSENT;
                constant = constant && residual(columns, column, row) ==
                                               residual(columns, column, columns->from);
        }
        if (n_present == 0)
                return 0;
        constant = constant && n_present == columns->to - columns->from;
        if ((r = buf_put_varint(out, column + 1)) < 0)
                return r;
        if (constant) {
                if ((r = buf_put_u8(out, SHAPE_CONSTANT)) < 0)
                        return r;
                return buf_put_zigzag(out, residual(columns, column, columns->from));
        }
        if (n_present == columns->to - columns->from) {
                r = buf_put_u8(out, SHAPE_DENSE);
        } else {
                r = buf_put_u8(out, SHAPE_SPARSE);
                if (r >= 0)
                        r = encode_bitmap(columns, column, out);
        }
        for (size_t row = columns->from; row < columns->to && r >= 0; row++) {
                int64_t value;

                if (data[row] == CHUNK_ABSENT)
                        continue;
                value = residual(columns, column, row);
                r = buf_put_zigzag(out, wrap_sub(value, before));
                before = value;
        }
        return r;
}

static int encode_columns(const struct columns *columns, struct buf *out)
{
        int r = 0;

        for (size_t i = 0; i < columns->n_columns && r >= 0; i++)
                r = encode_column(columns, i, out);
        return r < 0 ? r : buf_put_varint(out, 0);
}

static int encode_parts(const struct chunk_parts *parts, size_t rows,
                        int64_t (*predict)(int64_t *const *, size_t, size_t), struct buf *out)
{
        struct columns columns = { (int64_t **)parts->columns, parts->n_columns, 0, parts->n,
                                   predict };
        int r = 0;

        for (size_t i = 0; i < rows && r >= 0; i++)
                r = buf_put_varint(out, parts->first[i + 1] - parts->first[i]);
        return r < 0 ? r : encode_columns(&columns, out);
}

static int encode_payload(const struct chunk_table *table, struct buf *out)
{
        struct columns columns = { (int64_t **)table->columns, CHUNK_N_FIELDS, 0, table->n,
                                   predict_chunk };
        int r;

        if ((r = buf_put_varint(out, table->strings.n)) < 0)
                return r;
        for (size_t i = 0; i < table->strings.n; i++) {
                size_t len;
                const char *string = intern_get(&table->strings, i, &len);

                if ((r = buf_put_bytes(out, string, len)) < 0)
                        return r;
        }
        if ((r = encode_columns(&columns, out)) < 0)
                return r;
        if ((r = encode_parts(&table->sections, table->n, predict_section, out)) < 0)
                return r;
        return encode_parts(&table->branches, table->n, predict_nothing, out);
}

int chunk_table_encode(const struct chunk_table *table, struct buf *out, struct roast_error *error)
{
        static const uint8_t magic[] = { 'R', 'C', CODEC_VERSION };
        ROAST_CLEANUP(buf_deinit) struct buf raw = BUF_INIT;
        size_t start = out->len, bound, packed = 0;

        if (table->n > CHUNK_ROWS_MAX)
                return roast_fail(error, ROAST_E_INVALID, "%zu records in one block, at most %u",
                                  table->n, CHUNK_ROWS_MAX);
        if (encode_payload(table, &raw) < 0)
                return roast_fail_nomem(error);
        if (raw.len > CODEC_RAW_MAX)
                return roast_fail(error, ROAST_E_INVALID, "%zu bytes of records in one block",
                                  raw.len);
        if (table->sections.n > parts_max(raw.len) || table->branches.n > parts_max(raw.len))
                return roast_fail(error, ROAST_E_INVALID,
                                  "%zu sections and %zu branches in one block", table->sections.n,
                                  table->branches.n);
        bound = ZSTD_compressBound(raw.len);
        if (buf_reserve(out, sizeof(magic) + 21 + bound) < 0)
                return roast_fail_nomem(error);

        /* nothing below can fail for memory: the room is there */
        buf_append(out, magic, sizeof(magic));
        buf_put_u8(out, FORM_ZSTD);
        buf_put_varint(out, table->n);
        buf_put_varint(out, raw.len);
        if (raw.len >= CODEC_COMPRESS_MIN)
                packed = ZSTD_compress(out->data + out->len, bound, raw.data, raw.len, CODEC_LEVEL);
        if (packed && !ZSTD_isError(packed) && packed < raw.len) {
                out->len += packed;
        } else {
                out->data[start + sizeof(magic)] = FORM_PLAIN;
                buf_append(out, raw.data, raw.len);
        }
        return 0;
}

static int corrupt(struct roast_error *error, const char *what)
{
        return roast_fail(error, ROAST_E_CORRUPT, "damaged chunk records: %s", what);
}

/* Reads one column; every row of it gets a value or CHUNK_ABSENT. */
static void decode_column(const struct columns *columns, size_t column, struct cursor *in)
{
        int64_t *data = columns->data[column];
        uint8_t shape = cursor_u8(in);
        const uint8_t *bitmap = NULL;
        int64_t value = 0;

        if (shape > SHAPE_SPARSE)
                in->bad = true;
        if (shape == SHAPE_SPARSE)
                bitmap = cursor_take(in, (columns->to - columns->from + 7) / 8);
        if (shape == SHAPE_CONSTANT)
                value = cursor_zigzag(in);
        if (in->bad)
                return;
        for (size_t row = columns->from; row < columns->to; row++) {
                size_t i = row - columns->from;

                if (bitmap && !(bitmap[i / 8] >> (i % 8) & 1))
                        continue;
                if (shape != SHAPE_CONSTANT)
                        value = wrap_add(value, cursor_zigzag(in));
                if (in->bad)
                        return;
                data[row] = wrap_add(value, columns->predict(columns->data, column, row));
        }
}

static void decode_columns(const struct columns *columns, struct cursor *in)
{
        uint64_t last = 0, key;

        for (size_t i = 0; i < columns->n_columns; i++)
                for (size_t row = columns->from; row < columns->to; row++)
                        columns->data[i][row] = CHUNK_ABSENT;
        while ((key = cursor_varint(in)) != 0) {
                if (in->bad || key <= last || key > columns->n_columns) {
                        in->bad = true;
                        return;
                }
                decode_column(columns, (size_t)key - 1, in);
                last = key;
        }
}

/* What the parts of a payload need to know of the rest of it */
struct payload {
        int64_t *numbers; /* of its strings, in our own table */
        size_t n_numbers;
        size_t parts_max;
};

static void payload_deinit(struct payload *payload)
{
        free(payload->numbers);
}

/* String numbers in a column become those of our own table. */
static bool renumber(const struct columns *columns, size_t column, const struct payload *payload)
{
        for (size_t row = columns->from; row < columns->to; row++) {
                int64_t *value = &columns->data[column][row];

                if (*value == CHUNK_ABSENT)
                        continue;
                if (*value < 0 || (uint64_t)*value >= payload->n_numbers)
                        return false;
                *value = payload->numbers[*value];
        }
        return true;
}

static int decode_parts(struct chunk_parts *parts, size_t row, size_t rows,
                        int64_t (*predict)(int64_t *const *, size_t, size_t),
                        const struct payload *payload, struct cursor *in, struct roast_error *error)
{
        struct columns columns = { parts->columns, parts->n_columns, parts->n, 0, predict };
        size_t to = parts->n;

        for (size_t i = 0; i < rows; i++) {
                uint64_t n = cursor_varint(in);

                if (in->bad || n > payload->parts_max - (to - parts->n))
                        return corrupt(error, "too many sections or branches");
                to += (size_t)n;
                parts->first[row + i + 1] = to;
        }
        if (chunk_parts_reserve(parts, to - parts->n) < 0)
                return roast_fail_nomem(error);
        columns.to = to;
        decode_columns(&columns, in);
        if (in->bad)
                return corrupt(error, "a column of sections or branches");
        if (to > parts->n)
                for (size_t i = parts->n; i < to; i++)
                        if (parts->columns[0][i] == CHUNK_ABSENT)
                                return corrupt(error, "a section or branch without a name");
        if (!renumber(&columns, 0, payload))
                return corrupt(error, "the name of a section or branch");
        parts->n = to;
        return 0;
}

static int decode_strings(struct chunk_table *table, struct payload *payload, struct cursor *in,
                          struct roast_error *error)
{
        uint64_t n = cursor_varint(in);

        if (in->bad || n > cursor_left(in))
                return corrupt(error, "the number of strings");
        payload->n_numbers = (size_t)n;
        payload->numbers = calloc(n ? (size_t)n : 1, sizeof(*payload->numbers));
        if (!payload->numbers)
                return roast_fail_nomem(error);
        for (size_t i = 0; i < payload->n_numbers; i++) {
                size_t len;
                const uint8_t *string = cursor_bytes(in, &len);

                if (!string)
                        return corrupt(error, "a string");
                payload->numbers[i] = intern_put(&table->strings, string, len);
                if (payload->numbers[i] < 0)
                        return roast_fail_nomem(error);
        }
        return 0;
}

static int decode_payload(struct chunk_table *table, size_t rows, struct cursor *in,
                          struct roast_error *error)
{
        ROAST_CLEANUP(payload_deinit)
        struct payload payload = {
                .parts_max = parts_max(cursor_left(in)),
        };
        struct columns columns;
        int r;

        /* the two counts of parts take a byte each, at least */
        if (rows > cursor_left(in))
                return corrupt(error, "the number of records");
        if (chunk_table_reserve(table, rows) < 0)
                return roast_fail_nomem(error);
        if ((r = decode_strings(table, &payload, in, error)) < 0)
                return r;
        columns = (struct columns){ table->columns, CHUNK_N_FIELDS, table->n, table->n + rows,
                                    predict_chunk };
        decode_columns(&columns, in);
        if (in->bad)
                return corrupt(error, "a column");
        for (size_t i = 0; i < CHUNK_N_FIELDS; i++)
                if (chunk_fields[i].type != CHUNK_TYPE_INT && !renumber(&columns, i, &payload))
                        return corrupt(error, "the number of a string");
        r = decode_parts(&table->sections, table->n, rows, predict_section, &payload, in, error);
        if (r < 0)
                return r;
        r = decode_parts(&table->branches, table->n, rows, predict_nothing, &payload, in, error);
        if (r < 0)
                return r;
        if (cursor_left(in))
                return corrupt(error, "bytes after the end");
        table->n += rows;
        return 0;
}

static int decompress(uint8_t **ret, size_t raw_len, const struct cursor *in,
                      struct roast_error *error)
{
        size_t left = cursor_left(in), n;

        if (raw_len / CODEC_RATIO_MAX > left)
                return corrupt(error, "the length");
        *ret = malloc(raw_len ? raw_len : 1);
        if (!*ret)
                return roast_fail_nomem(error);
        n = ZSTD_decompress(*ret, raw_len, in->at, left);
        if (ZSTD_getErrorCode(n) == ZSTD_error_memory_allocation)
                return roast_fail_nomem(error);
        return n == raw_len ? 0 : corrupt(error, "the compressed payload");
}

struct header {
        uint8_t form;
        size_t rows;
        size_t raw_len;
};

static int decode_header(struct header *header, struct cursor *in, struct roast_error *error)
{
        const uint8_t *magic = cursor_take(in, 3);
        uint8_t form = cursor_u8(in);
        uint64_t rows = cursor_varint(in), raw_len = cursor_varint(in);

        if (in->bad || magic[0] != 'R' || magic[1] != 'C')
                return roast_fail(error, ROAST_E_FORMAT, "not chunk records");
        if (magic[2] != CODEC_VERSION)
                return roast_fail(error, ROAST_E_VERSION, "chunk records of version %u", magic[2]);
        if (form > FORM_ZSTD || rows > CHUNK_ROWS_MAX || raw_len > CODEC_RAW_MAX)
                return corrupt(error, "the header");
        *header = (struct header){ form, (size_t)rows, (size_t)raw_len };
        return 0;
}

int64_t chunk_table_peek(const void *data, size_t len, struct roast_error *error)
{
        struct cursor in = cursor_init(data, len);
        struct header header = { 0 };
        int r = decode_header(&header, &in, error);

        return r < 0 ? r : (int64_t)header.rows;
}

int chunk_table_decode(struct chunk_table *table, const void *data, size_t len,
                       struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_free) uint8_t *raw = NULL;
        size_t n_sections = table->sections.n, n_branches = table->branches.n;
        size_t n_strings = table->strings.n;
        struct cursor in = cursor_init(data, len);
        struct header header = { 0 };
        int r = decode_header(&header, &in, error);

        if (r < 0)
                return r;
        if (header.form == FORM_ZSTD) {
                r = decompress(&raw, header.raw_len, &in, error);
                if (r < 0)
                        return r;
                in = cursor_init(raw, header.raw_len);
        } else if (cursor_left(&in) != header.raw_len) {
                return corrupt(error, "the length");
        }
        r = decode_payload(table, header.rows, &in, error);
        if (r < 0) {
                table->sections.n = n_sections;
                table->branches.n = n_branches;
                intern_truncate(&table->strings, n_strings);
        }
        return r;
}
