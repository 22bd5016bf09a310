/* Columns: see column.h. */

#include "timeline/column.h"

struct models {
        struct model changed[2]; /* by whether the row before had changed */
        struct model sign;
        struct model length[64]; /* a binary tree over length - 1, its root at 1 */
        struct model top[65];    /* by length */
};

static void models_init(struct models *models)
{
        struct model *all = (struct model *)models;

        for (size_t i = 0; i < sizeof(*models) / sizeof(*all); i++)
                all[i] = (struct model)MODEL_INIT;
}

static unsigned int bit_length(uint64_t value)
{
        return value ? 64 - (unsigned int)__builtin_clzll(value) : 0;
}

static uint64_t magnitude(int64_t value)
{
        return value < 0 ? -(uint64_t)value : (uint64_t)value;
}

static uint64_t gcd(uint64_t a, uint64_t b)
{
        while (b) {
                uint64_t rest = a % b;

                a = b;
                b = rest;
        }
        return a;
}

void column_measure(struct column *column, int64_t *residuals, const int64_t *values, size_t n)
{
        uint64_t all = 0, scale = 0;
        int64_t falls = 0;

        for (size_t i = 1; i < n; i++) {
                uint64_t r = (uint64_t)values[i] - (uint64_t)values[i - 1] - column->drift;

                residuals[i - 1] = (int64_t)r;
                falls |= (int64_t)r;
                all |= magnitude((int64_t)r);
        }
        for (size_t i = 0; i + 1 < n && scale != 1; i++)
                if (residuals[i])
                        scale = gcd(magnitude(residuals[i]), scale);
        if (scale > 1) {
                all = 0;
                for (size_t i = 0; i + 1 < n; i++) {
                        uint64_t m = magnitude(residuals[i]) / scale;

                        all |= m;
                        residuals[i] = (int64_t)(residuals[i] < 0 ? -m : m);
                }
        }
        column->scale = scale ? scale : 1;
        column->falls = falls < 0;
        column->width = bit_length(all);
}

static void encode_length(struct models *models, struct range_encoder *range, unsigned int depth,
                          unsigned int length)
{
        unsigned int node = 1;

        for (unsigned int i = depth; i-- > 0;) {
                bool bit = (length - 1) >> i & 1;

                range_encode(range, &models->length[node], bit);
                node = 2 * node + bit;
        }
}

void column_encode(const struct column *column, struct range_encoder *range,
                   struct bit_writer *bits, const int64_t *residuals, size_t n)
{
        unsigned int depth = bit_length(column->width - 1);
        bool changed = false;
        struct models models;

        models_init(&models);
        for (size_t i = 0; i + 1 < n; i++) {
                struct model *model = &models.changed[changed];
                uint64_t m = magnitude(residuals[i]);
                unsigned int length = bit_length(m);

                changed = m != 0;
                range_encode(range, model, changed);
                if (!changed)
                        continue;
                if (column->falls)
                        range_encode(range, &models.sign, residuals[i] < 0);
                encode_length(&models, range, depth, length);
                if (length > 1)
                        range_encode(range, &models.top[length], m >> (length - 2) & 1);
                if (length > 2)
                        bit_write(bits, m & ((UINT64_C(1) << (length - 2)) - 1), length - 2);
        }
}

static inline unsigned int decode_length(struct models *models, struct range_decoder *range,
                                         unsigned int depth)
{
        unsigned int node = 1;

        for (unsigned int i = 0; i < depth; i++)
                node = 2 * node + range_decode(range, &models->length[node]);
        return node - (1u << depth) + 1;
}

void column_decode(const struct column *column, struct range_decoder *range,
                   struct bit_reader *bits, int64_t *values, size_t n)
{
        unsigned int depth = bit_length(column->width - 1);
        struct range_decoder r = *range;
        struct bit_reader b = *bits;
        uint64_t value = (uint64_t)values[0];
        bool changed = false;
        struct models models;

        models_init(&models);
        for (size_t i = 1; i < n; i++) {
                value += column->drift;
                changed = range_decode(&r, &models.changed[changed]);
                if (changed) {
                        bool negative = column->falls && range_decode(&r, &models.sign);
                        unsigned int length = decode_length(&models, &r, depth);
                        uint64_t m = 1;

                        if (length > 1)
                                m = 2 | range_decode(&r, &models.top[length]);
                        if (length > 2)
                                m = m << (length - 2) | bit_read(&b, length - 2);
                        m *= column->scale;
                        value += negative ? -m : m;
                }
                values[i] = (int64_t)value;
        }
        *range = r;
        *bits = b;
}

void column_run(int64_t *values, uint64_t step, size_t n)
{
        for (size_t i = 1; i < n; i++)
                values[i] = (int64_t)((uint64_t)values[0] + i * step);
}

void column_shift(int64_t *values, const int64_t *other, size_t n)
{
        uint64_t offset = (uint64_t)values[0] - (uint64_t)other[0];

        for (size_t i = 1; i < n; i++)
                values[i] = (int64_t)((uint64_t)other[i] + offset);
}
