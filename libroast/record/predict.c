/* Predictions: see predict.h. */

#include "record/predict.h"

static void predict_add(int64_t *value, int64_t prediction, int sign)
{
        *value = (int64_t)((uint64_t)*value + (uint64_t)sign * (uint64_t)prediction);
}

static int64_t predict_or_0(int64_t value)
{
        return value == CHUNK_ABSENT ? 0 : value;
}

enum chunk_field predict_at(int place)
{
        if (place == 0)
                return CHUNK_FILE;
        if (place == CHUNK_READ_BYTES)
                return CHUNK_REQUESTED_BYTES;
        if (place <= CHUNK_FILE || (place > CHUNK_READ_BYTES && place <= CHUNK_REQUESTED_BYTES))
                place--;
        return (enum chunk_field)place;
}

int predict_context(enum chunk_field field)
{
        switch (field) {
        case CHUNK_DATASET:
        case CHUNK_TREE:
        case CHUNK_UUID:
        case CHUNK_ENTRY_START:
        case CHUNK_METADATA:
        case CHUNK_FILE_METADATA:
        case CHUNK_TREE_BRANCHES:
        case CHUNK_TREE_BYTES:
        case CHUNK_SELECTED_BYTES:
        case CHUNK_SELECTED_UNCOMPRESSED_BYTES:
        case CHUNK_AHEAD_BYTES:
        case CHUNK_UNUSED_BYTES:
        case CHUNK_UNUSED_BRANCHES:
                return CHUNK_FILE;
        case CHUNK_HOST:
        case CHUNK_PID:
        case CHUNK_THREAD:
        case CHUNK_RSS_START_BYTES:
                return CHUNK_WORKER;
        default:
                return -1;
        }
}

static int64_t predict_branch_bytes(const struct chunk_table *table, size_t row)
{
        const struct chunk_parts *parts = &table->branches;
        uint64_t sum = 0;

        for (size_t i = parts->first[row]; i < parts->first[row + 1]; i++)
                sum += (uint64_t)predict_or_0(parts->columns[1][i]);
        return (int64_t)sum;
}

static int64_t predict_wall_left(const struct chunk_table *table, size_t row)
{
        uint64_t left = (uint64_t)predict_or_0(table->columns[CHUNK_WALL_NS][row]);

        for (int i = CHUNK_CPU_NS; i < CHUNK_OTHER_NS; i++)
                left -= (uint64_t)predict_or_0(table->columns[i][row]);
        return (int64_t)left;
}

static int64_t predict_chunk(const struct chunk_table *table, enum chunk_field field, size_t row)
{
        int64_t *const *columns = table->columns;

        switch (field) {
        case CHUNK_ENTRY_STOP:
                return predict_or_0(columns[CHUNK_ENTRY_START][row]);
        case CHUNK_NUM_EVENTS:
                return (int64_t)((uint64_t)predict_or_0(columns[CHUNK_ENTRY_STOP][row]) -
                                 (uint64_t)predict_or_0(columns[CHUNK_ENTRY_START][row]));
        case CHUNK_CPU_NS:
                return predict_or_0(columns[CHUNK_WALL_NS][row]);
        case CHUNK_OTHER_NS:
                return predict_wall_left(table, row);
        case CHUNK_RSS_END_BYTES:
                return predict_or_0(columns[CHUNK_RSS_START_BYTES][row]);
        case CHUNK_RSS_PEAK_BYTES:
                return predict_or_0(columns[CHUNK_RSS_END_BYTES][row]);
        case CHUNK_REQUESTED_BYTES:
                return predict_branch_bytes(table, row);
        case CHUNK_RCHAR_BYTES:
                return predict_or_0(columns[CHUNK_REQUESTED_BYTES][row]);
        default:
                return 0;
        }
}

void predict_chunks(const struct chunk_table *table, enum chunk_field field, size_t from, size_t to,
                    int64_t *values, int sign)
{
        switch (field) {
        case CHUNK_ENTRY_STOP:
        case CHUNK_NUM_EVENTS:
        case CHUNK_CPU_NS:
        case CHUNK_OTHER_NS:
        case CHUNK_RSS_END_BYTES:
        case CHUNK_RSS_PEAK_BYTES:
        case CHUNK_REQUESTED_BYTES:
        case CHUNK_RCHAR_BYTES:
                for (size_t row = from; row < to; row++)
                        predict_add(&values[row - from], predict_chunk(table, field, row), sign);
                break;
        default:
                break;
        }
}

static int64_t predict_mean_ns(const struct chunk_parts *parts, size_t row)
{
        int64_t count = predict_or_0(parts->columns[1 + SECTION_COUNT][row]);

        return count > 0 ? predict_or_0(parts->columns[1 + SECTION_TOTAL_NS][row]) / count : 0;
}

void predict_sections(const struct chunk_parts *parts, size_t column, size_t from, size_t to,
                      int64_t *values, int sign)
{
        int64_t *const *columns = parts->columns;

        for (size_t row = from; row < to; row++) {
                int64_t *value = &values[row - from];

                if (column == 1 + SECTION_SELF_NS)
                        predict_add(value, predict_or_0(columns[1 + SECTION_TOTAL_NS][row]), sign);
                else if (column == 1 + SECTION_MIN_NS || column == 1 + SECTION_MAX_NS)
                        predict_add(value, predict_mean_ns(parts, row), sign);
                else if (column == 1 + SECTION_RSS_END_BYTES)
                        predict_add(value, predict_or_0(columns[1 + SECTION_RSS_START_BYTES][row]),
                                    sign);
                else if (column == 1 + SECTION_RSS_DELTA_BYTES)
                        predict_add(value,
                                    (int64_t)((uint64_t)predict_or_0(
                                                      columns[1 + SECTION_RSS_END_BYTES][row]) -
                                              (uint64_t)predict_or_0(
                                                      columns[1 + SECTION_RSS_START_BYTES][row])),
                                    sign);
        }
}
