/* Bytes to chunk records: see codec.h. Nothing in the bytes is trusted. */

#include <stdlib.h>

#include <zstd.h>
#include <zstd_errors.h>

#include "record/codec.h"
#include "util/cleanup.h"

static int decode_corrupt(struct roast_error *error, const char *what)
{
        return roast_fail(error, ROAST_E_CORRUPT, "damaged chunk records: %s", what);
}

/* What is read, and how its numbers of strings become those of the table */
struct decoder {
        struct chunk_table *table;
        struct bits_reader bits;
        size_t rows;
        size_t limit; /* of rows, sections and branches together */
        int64_t *numbers;
        size_t n_numbers;
};

static bool decode_renumber(const struct decoder *decoder, int64_t *column, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                if (column[i] == CHUNK_ABSENT)
                        continue;
                if (column[i] < 0 || (uint64_t)column[i] >= decoder->n_numbers)
                        return false;
                column[i] = decoder->numbers[column[i]];
        }
        return true;
}

/* The number of parts of each row, and room for them; `*n` are all of them */
static int decode_counts(struct decoder *decoder, struct chunk_parts *parts, size_t *n,
                         struct roast_error *error)
{
        ROAST_CLEANUP(codec_work_deinit) struct codec_work work;
        size_t row = decoder->table->n, to = parts->n;
        struct column_rows counts;

        if (codec_work_init(&work, decoder->rows, 0) < 0)
                return roast_fail_nomem(error);
        counts = codec_rows(&work, decoder->rows, NULL);
        if (!record_column_decode(&counts, &decoder->bits))
                return decode_corrupt(error, "the number of sections or branches");
        for (size_t i = 0; i < decoder->rows; i++) {
                uint64_t count = (uint64_t)work.values[i];

                if (!work.present[i] || count > decoder->limit - (to - parts->n))
                        return decode_corrupt(error, "too many sections or branches");
                to += (size_t)count;
                parts->first[row + i + 1] = to;
        }
        *n = to - parts->n;
        return chunk_parts_reserve(parts, *n) < 0 ? roast_fail_nomem(error) : 0;
}

static int decode_parts(struct decoder *decoder, struct chunk_parts *parts, bool sections,
                        struct roast_error *error)
{
        ROAST_CLEANUP(codec_work_deinit) struct codec_work work;
        size_t n = 0, from = parts->n;
        int r;

        work.heap = NULL;
        r = decode_counts(decoder, parts, &n, error);
        if (r < 0)
                return r;
        if (codec_work_init(&work, n, decoder->n_numbers) < 0)
                return roast_fail_nomem(error);
        for (size_t column = 0; column < parts->n_columns; column++) {
                struct column_rows values = codec_rows(&work, n, work.files);

                values.chained = column == 0;
                if (values.chained)
                        values.contexts = work.values - 1;
                if (!record_column_decode(&values, &decoder->bits))
                        return decode_corrupt(error, "a column of sections or branches");
                if (!n)
                        continue;
                if (sections)
                        predict_sections(parts, column, from, from + n, work.values, 1);
                codec_store(&work, parts->columns[column] + from, n);
                if (column == 0)
                        codec_store_contexts(&work, work.files, n);
        }
        if (!n)
                return 0;
        for (size_t i = from; i < from + n; i++)
                if (parts->columns[0][i] == CHUNK_ABSENT)
                        return decode_corrupt(error, "a section or branch without a name");
        if (!decode_renumber(decoder, parts->columns[0] + from, n))
                return decode_corrupt(error, "the name of a section or branch");
        parts->n = from + n;
        return 0;
}

static int decode_fields(struct decoder *decoder, struct roast_error *error)
{
        ROAST_CLEANUP(codec_work_deinit) struct codec_work work;
        struct chunk_table *table = decoder->table;
        size_t from = table->n, n = decoder->rows;

        if (codec_work_init(&work, n, decoder->n_numbers) < 0)
                return roast_fail_nomem(error);
        for (int i = 0; i < CHUNK_N_FIELDS; i++) {
                enum chunk_field field = predict_at(i);
                struct column_rows values = codec_rows(&work, n, codec_contexts(&work, field));
                int64_t *column;

                if (!record_column_decode(&values, &decoder->bits))
                        return decode_corrupt(error, "a column");
                if (!n)
                        continue;
                column = table->columns[field] + from;
                if (field == CHUNK_FILE)
                        codec_store_contexts(&work, work.files, n);
                if (field == CHUNK_WORKER)
                        codec_store_contexts(&work, work.workers, n);
                predict_chunks(table, field, from, from + n, work.values, 1);
                codec_store(&work, column, n);
                if (chunk_fields[field].type != CHUNK_TYPE_INT &&
                    !decode_renumber(decoder, column, n))
                        return decode_corrupt(error, "the number of a string");
        }
        return 0;
}

static int decode_strings(struct decoder *decoder, struct cursor *in, struct roast_error *error)
{
        uint64_t n = cursor_varint(in);

        if (in->bad || n > cursor_left(in))
                return decode_corrupt(error, "the number of strings");
        decoder->n_numbers = (size_t)n;
        decoder->numbers = calloc(n ? (size_t)n : 1, sizeof(*decoder->numbers));
        if (!decoder->numbers)
                return roast_fail_nomem(error);
        for (size_t i = 0; i < decoder->n_numbers; i++) {
                uint64_t head = cursor_varint(in), len = head >> 1;
                const uint8_t *string =
                        len > CODEC_TEXT_MAX ? NULL : cursor_take(in, head & 1 ? 16 : (size_t)len);
                char uuid[UUID_TEXT];

                if (!string || (head & 1 && len != UUID_TEXT))
                        return decode_corrupt(error, "a string");
                if (head & 1)
                        uuid_unpack(string, uuid);
                decoder->numbers[i] =
                        intern_put(&decoder->table->strings, head & 1 ? (const void *)uuid : string,
                                   (size_t)len);
                if (decoder->numbers[i] < 0)
                        return roast_fail_nomem(error);
        }
        return cursor_left(in) ? decode_corrupt(error, "bytes after the strings") : 0;
}

struct header {
        uint8_t form;
        size_t rows;
        size_t text_len;
        size_t stored_len;
};

static int decode_header(struct header *header, struct cursor *in, struct roast_error *error)
{
        const uint8_t *magic = cursor_take(in, 3);
        uint64_t rows, text, stored;
        uint8_t form;

        if (!magic || magic[0] != 'R' || magic[1] != 'C')
                return roast_fail(error, ROAST_E_FORMAT, "not chunk records");
        if (magic[2] != CODEC_VERSION)
                return roast_fail(error, ROAST_E_VERSION, "chunk records of version %u", magic[2]);
        form = cursor_u8(in);
        rows = cursor_varint(in);
        text = cursor_varint(in);
        stored = cursor_varint(in);
        if (in->bad || form > CODEC_ZSTD || rows > CHUNK_ROWS_MAX || text > CODEC_TEXT_MAX ||
            stored > cursor_left(in) || (form == CODEC_PLAIN && stored != text))
                return decode_corrupt(error, "the header");
        *header = (struct header){ form, (size_t)rows, (size_t)text, (size_t)stored };
        return 0;
}

int64_t chunk_table_peek(const void *data, size_t len, struct roast_error *error)
{
        struct cursor in = cursor_init(data, len);
        struct header header = { 0 };
        int r = decode_header(&header, &in, error);

        return r < 0 ? r : (int64_t)header.rows;
}

static int decode_payload(struct decoder *decoder, struct cursor *text, struct roast_error *error)
{
        size_t before = decoder->table->sections.n + decoder->table->branches.n, n;
        int r = decode_strings(decoder, text, error);

        if (r < 0)
                return r;
        if (chunk_table_reserve(decoder->table, decoder->rows) < 0)
                return roast_fail_nomem(error);
        if ((r = decode_parts(decoder, &decoder->table->sections, true, error)) < 0)
                return r;
        if ((r = decode_parts(decoder, &decoder->table->branches, false, error)) < 0)
                return r;
        if ((r = decode_fields(decoder, error)) < 0)
                return r;
        /* only so many rows are believed without bytes that stand for them: see pad() */
        n = decoder->rows + decoder->table->sections.n + decoder->table->branches.n - before;
        if (decoder->bits.at > (uint64_t)decoder->bits.len * 8)
                return decode_corrupt(error, "the end is missing");
        if (n <= CODEC_FREE_ROWS && (decoder->bits.at + 7) / 8 < decoder->bits.len)
                return decode_corrupt(error, "bytes after the end");
        decoder->table->n += decoder->rows;
        return 0;
}

static int decode_decompress(uint8_t **ret, const struct header *header, const uint8_t *stored,
                             struct roast_error *error)
{
        size_t n;

        if (header->text_len / CODEC_RATIO_MAX > header->stored_len)
                return decode_corrupt(error, "the length of the strings");
        *ret = malloc(header->text_len ? header->text_len : 1);
        if (!*ret)
                return roast_fail_nomem(error);
        n = ZSTD_decompress(*ret, header->text_len, stored, header->stored_len);
        if (ZSTD_getErrorCode(n) == ZSTD_error_memory_allocation)
                return roast_fail_nomem(error);
        return n == header->text_len ? 0 : decode_corrupt(error, "the compressed strings");
}

int chunk_table_decode(struct chunk_table *table, const void *data, size_t len,
                       struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_free) uint8_t *text = NULL;
        size_t n_sections = table->sections.n, n_branches = table->branches.n;
        size_t n_strings = table->strings.n;
        struct decoder decoder = { .table = table };
        struct cursor in = cursor_init(data, len), strings;
        struct header header = { 0 };
        int r = decode_header(&header, &in, error);

        if (r < 0)
                return r;
        decoder.rows = header.rows;
        decoder.limit = CODEC_FREE_ROWS + len * CODEC_ROWS_PER_BYTE;
        if (header.rows > decoder.limit)
                return decode_corrupt(error, "the number of records");
        strings = cursor_init(cursor_take(&in, header.stored_len), header.stored_len);
        decoder.bits = (struct bits_reader){ .data = in.at, .len = cursor_left(&in) };
        if (header.form == CODEC_ZSTD) {
                r = decode_decompress(&text, &header, strings.at, error);
                if (r < 0)
                        return r;
                strings = cursor_init(text, header.text_len);
        }
        r = decode_payload(&decoder, &strings, error);
        free(decoder.numbers);
        if (r < 0) {
                table->sections.n = n_sections;
                table->branches.n = n_branches;
                intern_truncate(&table->strings, n_strings);
        }
        return r;
}
