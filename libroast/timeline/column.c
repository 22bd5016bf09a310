/* Columns: see column.h. */

#include "timeline/column.h"
#include "util/size.h"

/* How many differences the usual step is taken from. */
#define STEP_PROBES 31

struct models {
        struct range_model changed[2]; /* by whether the row before had changed */
        struct range_model length[64]; /* a binary tree over length - 1, its root at 1 */
};

static void column_models_init(struct models *models)
{
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(models->changed); i++)
                models->changed[i] = (struct range_model)RANGE_MODEL_INIT;
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(models->length); i++)
                models->length[i] = (struct range_model)RANGE_MODEL_INIT;
}

static unsigned int column_bit_length(uint64_t value)
{
        return value ? 64 - (unsigned int)__builtin_clzll(value) : 0;
}

static uint64_t column_magnitude(int64_t value)
{
        return value < 0 ? -(uint64_t)value : (uint64_t)value;
}

static uint64_t column_gcd(uint64_t a, uint64_t b)
{
        while (b) {
                uint64_t rest = a % b;

                a = b;
                b = rest;
        }
        return a;
}

uint64_t column_usual_step(const int64_t *values, size_t n)
{
        size_t stride = n / STEP_PROBES + 1, count = 0;
        int64_t steps[STEP_PROBES];

        for (size_t i = 1; i < n; i += stride) {
                int64_t step = (int64_t)((uint64_t)values[i] - (uint64_t)values[i - 1]);
                size_t at = count++;

                for (; at > 0 && steps[at - 1] > step; at--)
                        steps[at] = steps[at - 1];
                steps[at] = step;
        }
        return count ? (uint64_t)steps[count / 2] : 0;
}

bool column_alike(const int64_t *a, const int64_t *b, size_t n)
{
        uint64_t offset = (uint64_t)a[0] - (uint64_t)b[0];

        for (size_t i = 1; i < n; i++)
                if ((uint64_t)a[i] - (uint64_t)b[i] != offset)
                        return false;
        return true;
}

/* Of all residuals; 0 if they are all zero. */
static uint64_t column_common_divisor(const int64_t *residuals, size_t count)
{
        uint64_t divisor = 0;

        for (size_t i = 0; i < count && divisor != 1; i++)
                if (residuals[i])
                        divisor = column_gcd(column_magnitude(residuals[i]), divisor);
        return divisor;
}

static void column_divide(int64_t *residuals, size_t count, uint64_t divisor)
{
        for (size_t i = 0; i < count; i++) {
                uint64_t m = column_magnitude(residuals[i]) / divisor;

                residuals[i] = (int64_t)(residuals[i] < 0 ? -m : m);
        }
}

void column_measure(struct column *column, int64_t *residuals, const int64_t *values, size_t n)
{
        uint64_t all = 0, divisor;
        int64_t falls = 0;

        for (size_t i = 1; i < n; i++)
                residuals[i - 1] =
                        (int64_t)((uint64_t)values[i] - (uint64_t)values[i - 1] - column->drift);
        divisor = column_common_divisor(residuals, n - 1);
        if (divisor > 1)
                column_divide(residuals, n - 1, divisor);
        for (size_t i = 0; i < n - 1; i++) {
                all |= column_magnitude(residuals[i]);
                falls |= residuals[i];
        }
        column->scale = divisor ? divisor : 1;
        column->falls = falls < 0;
        column->width = column_bit_length(all);
}

static void column_encode_length(struct models *models, struct range_encoder *code,
                                 unsigned int depth, unsigned int length)
{
        unsigned int node = 1;

        for (unsigned int i = depth; i-- > 0;) {
                bool bit = (length - 1) >> i & 1;

                range_encode(code, &models->length[node], bit);
                node = 2 * node + bit;
        }
}

void column_encode(const struct column *column, struct range_encoder *code,
                   struct bits_writer *bits, const int64_t *residuals, size_t n)
{
        unsigned int depth = column_bit_length(column->width - 1);
        bool changed = false;
        struct models models;

        column_models_init(&models);
        for (size_t i = 0; i < n - 1; i++) {
                struct range_model *model = &models.changed[changed];
                uint64_t m = column_magnitude(residuals[i]);
                unsigned int length = column_bit_length(m);

                changed = m != 0;
                range_encode(code, model, changed);
                if (!changed)
                        continue;
                column_encode_length(&models, code, depth, length);
                m ^= UINT64_C(1) << (length - 1);
                if (column->falls)
                        bits_write(bits, m << 1 | (residuals[i] < 0), length);
                else
                        bits_write(bits, m, length - 1);
        }
}

static inline unsigned int column_decode_length(struct models *models, struct range_decoder *code,
                                                unsigned int depth)
{
        unsigned int node = 1;

        for (unsigned int i = 0; i < depth; i++)
                node = 2 * node + range_decode_even(code, &models->length[node]);
        return node - (1u << depth) + 1;
}

static inline uint64_t column_decode_rest(struct bits_reader *bits, bool falls, unsigned int length)
{
        uint64_t leading = UINT64_C(1) << (length - 1), rest;

        if (!falls)
                return leading | bits_read(bits, length - 1);
        rest = bits_read(bits, length);
        return rest & 1 ? -(leading | rest >> 1) : leading | rest >> 1;
}

/* Works on copies of the streams: they are in registers then. */
void column_decode(const struct column *column, struct range_decoder *code_stream,
                   struct bits_reader *bit_stream, int64_t *values, size_t n)
{
        unsigned int depth = column_bit_length(column->width - 1);
        struct range_decoder code = *code_stream;
        struct bits_reader bits = *bit_stream;
        uint64_t value = (uint64_t)*values;
        bool changed = false;
        struct models models;

        column_models_init(&models);
        for (size_t i = 1; i < n; i++) {
                value += column->drift;
                changed = range_decode(&code, &models.changed[changed]);
                if (changed) {
                        unsigned int length = column_decode_length(&models, &code, depth);

                        value += column_decode_rest(&bits, column->falls, length) * column->scale;
                }
                values[i] = (int64_t)value;
        }
        *code_stream = code;
        *bit_stream = bits;
}

void column_run(int64_t *values, uint64_t step, size_t n)
{
        for (size_t i = 1; i < n; i++)
                values[i] = (int64_t)((uint64_t)*values + i * step);
}

void column_shift(int64_t *values, const int64_t *other, size_t n)
{
        uint64_t offset = (uint64_t)*values - (uint64_t)other[0];

        for (size_t i = 1; i < n; i++)
                values[i] = (int64_t)((uint64_t)other[i] + offset);
}
