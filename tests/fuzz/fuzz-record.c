/*
 * Chunk records from any bytes
 *
 * Decoding gives an error, and a table as it was, or rows that survive another
 * round trip.
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
        ROAST_CLEANUP(buf_deinit) struct buf buf = BUF_INIT;

        chunk_table_init(&again);
        if (chunk_table_encode(table, &buf, NULL) < 0)
                abort();
        if (chunk_table_decode(&again, buf.data, buf.len, NULL) < 0)
                abort();
        if (again.n != table->n || again.sections.n != table->sections.n ||
            again.branches.n != table->branches.n)
                abort();
        for (int i = 0; table->n && i < CHUNK_N_FIELDS; i++)
                if (chunk_fields[i].type == CHUNK_TYPE_INT &&
                    memcmp(again.columns[i], table->columns[i], table->n * sizeof(int64_t)))
                        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;
        struct roast_error error = { 0 };

        chunk_table_init(&table);
        if (chunk_table_decode(&table, data, size, &error) < 0) {
                if (error.code >= 0 || !error.message[0] || table.n)
                        abort();
        } else if (table.n + table.sections.n + table.branches.n <= AGAIN_MAX) {
                encode_again(&table);
        }
        return 0;
}
