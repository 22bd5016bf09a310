/*
 * Chunk records from any bytes
 *
 * Decoding gives an error and leaves the table as it was, or gives rows; what
 * was decoded survives another round trip byte for byte. An input is tried as
 * it is and as a plain payload behind a right header.
 */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "record/chunk.h"
#include "util/cleanup.h"

/* Large tables are decoded, but encoding them again would only take time. */
#define AGAIN_MAX 2000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void encode_again(const struct chunk_table *table)
{
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table again;
        ROAST_CLEANUP(buf_deinit) struct buf one = BUF_INIT, two = BUF_INIT;
        struct roast_error error = { 0 };
        int r = chunk_table_encode(table, &one, &error);

        chunk_table_init(&again);
        if (r == ROAST_E_INVALID) /* more parts than the new bytes are worth */
                return;
        if (r < 0 || chunk_table_decode(&again, one.data, one.len, NULL) < 0 ||
            chunk_table_encode(&again, &two, NULL) < 0)
                abort();
        if (one.len != two.len || memcmp(one.data, two.data, one.len) != 0)
                abort();
}

static void check_strings(const struct chunk_table *table)
{
        size_t sum = 0, len;

        for (unsigned int i = 0; i < CHUNK_N_FIELDS; i++)
                for (size_t row = 0; row < table->n; row++)
                        if (chunk_fields[i].type != CHUNK_TYPE_INT &&
                            chunk_table_text(table, row, i, &len))
                                sum += len;
        for (size_t i = 0; i < table->sections.n; i++)
                if (!intern_get(&table->strings, (size_t)table->sections.columns[0][i], &len))
                        abort();
        for (size_t i = 0; i < table->branches.n; i++)
                if (!intern_get(&table->strings, (size_t)table->branches.columns[0][i], &len))
                        abort();
        if (sum > SIZE_MAX / 2)
                abort();
}

static void decode(const void *data, size_t size)
{
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;
        struct roast_error error = { 0 };

        chunk_table_init(&table);
        if (chunk_table_add(&table) < 0 || chunk_table_add_branch(&table, "mine", 4, 1) < 0)
                return;
        if (chunk_table_decode(&table, data, size, &error) < 0) {
                if (error.code >= 0 || !error.message[0] || table.n != 1 || table.strings.n != 1 ||
                    table.branches.n != 1 || table.sections.n != 0)
                        abort();
                return;
        }
        check_strings(&table);
        if (table.n + table.sections.n + table.branches.n <= AGAIN_MAX)
                encode_again(&table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        ROAST_CLEANUP(buf_deinit) struct buf buf = BUF_INIT;

        decode(data, size);
        if (buf_append(&buf, "RC\x03", 4) < 0 || buf_put_varint(&buf, size) < 0 ||
            buf_append(&buf, data, size) < 0)
                return 0;
        decode(buf.data, buf.len);
        return 0;
}
