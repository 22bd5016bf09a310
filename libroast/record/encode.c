/* Chunk records to bytes: see codec.h. */

#include <zstd.h>

#include "record/codec.h"
#include "util/cleanup.h"

#define ENCODE_LEVEL 3
/*
 * Setting zstd up takes longer than all the rest of a chunk's record. Below this
 * are the records of single chunks, above it those of many, whose names are alike.
 */
#define ENCODE_COMPRESS_MIN 16384

static void encode_parts(const struct codec_work *work, const struct chunk_parts *parts,
                         size_t rows, bool sections, struct bits_writer *out)
{
        struct column_rows counts = codec_rows(work, rows, NULL);

        for (size_t i = 0; i < rows; i++) {
                work->present[i] = true;
                work->values[i] = (int64_t)(parts->first[i + 1] - parts->first[i]);
        }
        record_column_encode(&counts, out);
        for (size_t column = 0; column < parts->n_columns; column++) {
                struct column_rows values = codec_rows(work, parts->n, parts->columns[0]);

                codec_load(work, parts->columns[column], parts->n);
                if (column == 0) {
                        values.contexts = work->values - 1;
                        values.chained = true;
                }
                if (sections)
                        predict_sections(parts, column, 0, parts->n, work->values, -1);
                record_column_encode(&values, out);
        }
}

static int encode_bits(const struct chunk_table *table, struct buf *out)
{
        size_t most = table->n > table->sections.n ? table->n : table->sections.n;
        struct bits_writer bits = { .out = out };
        ROAST_CLEANUP(codec_work_deinit) struct codec_work work;

        if (table->branches.n > most)
                most = table->branches.n;
        if (codec_work_init(&work, most, table->strings.n) < 0)
                return ROAST_E_NOMEM;
        encode_parts(&work, &table->sections, table->n, true, &bits);
        encode_parts(&work, &table->branches, table->n, false, &bits);
        for (int i = 0; i < CHUNK_N_FIELDS; i++) {
                enum chunk_field field = predict_at(i);
                struct column_rows values =
                        codec_rows(&work, table->n, codec_contexts(&work, field));

                codec_load(&work, table->columns[field], table->n);
                if (field == CHUNK_FILE)
                        codec_store_contexts(&work, work.files, table->n);
                if (field == CHUNK_WORKER)
                        codec_store_contexts(&work, work.workers, table->n);
                predict_chunks(table, field, 0, table->n, work.values, -1);
                record_column_encode(&values, &bits);
        }
        return bits_writer_finish(&bits);
}

static size_t encode_varint_length(uint64_t value)
{
        size_t length = 1;

        while (value >>= 7)
                length++;
        return length;
}

static int encode_strings(const struct intern *strings, struct buf *out)
{
        int r = buf_put_varint(out, strings->n);

        for (size_t i = 0; i < strings->n && r >= 0; i++) {
                uint8_t uuid[16];
                size_t len;
                const char *string = intern_get(strings, i, &len);
                bool packed = uuid_pack(string, len, uuid);

                r = buf_put_varint(out, (uint64_t)len << 1 | packed);
                if (r >= 0)
                        r = packed ? buf_append(out, uuid, sizeof(uuid))
                                   : buf_append(out, string, len);
        }
        return r;
}

/* Beyond some rows there are as many bytes that a reader can believe in their number. */
static int encode_pad(const struct chunk_table *table, struct buf *out, size_t start)
{
        size_t n = table->n + table->sections.n + table->branches.n;
        int r = 0;

        while (r >= 0 && n > CODEC_FREE_ROWS + (out->len - start) * CODEC_ROWS_PER_BYTE)
                r = buf_put_u8(out, 0);
        return r;
}

/* What encode_strings() will append */
static size_t encode_strings_length(const struct intern *strings)
{
        size_t length = encode_varint_length(strings->n);

        for (size_t i = 0; i < strings->n; i++) {
                uint8_t uuid[16];
                size_t len;
                const char *string = intern_get(strings, i, &len);

                length += encode_varint_length((uint64_t)len << 1);
                length += uuid_pack(string, len, uuid) ? sizeof(uuid) : len;
        }
        return length;
}

static int encode_put_header(const struct chunk_table *table, enum codec_form form, size_t text,
                             size_t stored, struct buf *out)
{
        if (buf_append(out, "RC", 2) < 0 || buf_put_u8(out, CODEC_VERSION) < 0 ||
            buf_put_u8(out, (uint8_t)form) < 0 || buf_put_varint(out, table->n) < 0 ||
            buf_put_varint(out, text) < 0)
                return ROAST_E_NOMEM;
        return buf_put_varint(out, stored);
}

/* The header and the strings, compressed; 1: that does not pay, and nothing was written. */
static int encode_put_packed(const struct chunk_table *table, size_t text_len, struct buf *out)
{
        ROAST_CLEANUP(buf_deinit) struct buf text = BUF_INIT;
        ROAST_CLEANUP(buf_deinit) struct buf packed = BUF_INIT;
        size_t bound = ZSTD_compressBound(text_len), stored;

        if (buf_reserve(&text, text_len) < 0 || encode_strings(&table->strings, &text) < 0 ||
            buf_reserve(&packed, bound) < 0)
                return ROAST_E_NOMEM;
        stored = ZSTD_compress(packed.data, bound, text.data, text.len, ENCODE_LEVEL);
        if (ZSTD_isError(stored) || stored >= text.len)
                return 1;
        if (encode_put_header(table, CODEC_ZSTD, text.len, stored, out) < 0)
                return ROAST_E_NOMEM;
        return buf_append(out, packed.data, stored);
}

static int encode(const struct chunk_table *table, size_t text_len, struct buf *out)
{
        size_t start = out->len;
        int r = text_len < ENCODE_COMPRESS_MIN ? 1 : encode_put_packed(table, text_len, out);

        if (r > 0) {
                r = encode_put_header(table, CODEC_PLAIN, text_len, text_len, out);
                if (r >= 0)
                        r = buf_reserve(out, text_len);
                if (r >= 0)
                        r = encode_strings(&table->strings, out);
        }
        if (r >= 0)
                r = encode_bits(table, out);
        return r < 0 ? r : encode_pad(table, out, start);
}

int chunk_table_encode(const struct chunk_table *table, struct buf *out, struct roast_error *error)
{
        size_t before = out->len, text_len = encode_strings_length(&table->strings);

        if (table->n > CHUNK_ROWS_MAX)
                return roast_fail(error, ROAST_E_INVALID, "%zu records in one block, at most %u",
                                  table->n, CHUNK_ROWS_MAX);
        if (text_len > CODEC_TEXT_MAX)
                return roast_fail(error, ROAST_E_INVALID, "%zu bytes of text in one block",
                                  text_len);
        if (encode(table, text_len, out) < 0) {
                out->len = before;
                return roast_fail_nomem(error);
        }
        return 0;
}
