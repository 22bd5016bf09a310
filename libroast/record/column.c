/* Columns of records: see column.h. */

#include <string.h>

#include "record/column.h"

enum shape { SHAPE_ABSENT, SHAPE_ZERO, SHAPE_CONSTANT, SHAPE_CODED };

struct coding {
        bool sparse;
        bool scaled;
        bool mean;
        bool runs;
        int64_t first;
        uint64_t scale;
};

static int64_t column_minus(int64_t a, int64_t b)
{
        return (int64_t)((uint64_t)a - (uint64_t)b);
}

static int64_t column_plus(int64_t a, int64_t b)
{
        return (int64_t)((uint64_t)a + (uint64_t)b);
}

static uint64_t column_zigzag(int64_t value)
{
        return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

static int64_t column_unzigzag(uint64_t value)
{
        return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

static struct column_context *column_context_of(const struct column_rows *rows, size_t row)
{
        uint64_t context = rows->contexts ? (uint64_t)rows->contexts[row] : 0;

        return &rows->memory[context < rows->n_contexts ? context : 0];
}

static void column_forget(const struct column_rows *rows)
{
        memset(rows->memory, 0, rows->n_contexts * sizeof(*rows->memory));
}

/* What the next value of a context is expected to be, once `value` was seen */
static void column_expect(struct column_context *context, int64_t value, bool mean)
{
        int64_t step = column_minus(value, context->expected);

        context->expected =
                mean && context->begun ? column_plus(context->expected, step >> 3) : value;
        context->begun = true;
}

/* The present rows' differences in their order; returns how many. */
static size_t column_differences(const struct column_rows *rows, bool mean)
{
        size_t n = 0;

        column_forget(rows);
        for (size_t i = 0; i < rows->n; i++) {
                struct column_context *context;

                if (!rows->present[i])
                        continue;
                context = column_context_of(rows, i);
                rows->scratch[n++] = column_minus(rows->values[i], context->expected);
                column_expect(context, rows->values[i], mean);
        }
        return n;
}

/* The differences as they are, each by the code of its context */
static uint64_t column_put_plain(const struct column_rows *rows, struct bits_writer *out)
{
        uint64_t n_bits = 0;
        size_t at = 0;

        for (size_t i = 0; i < rows->n; i++)
                if (rows->present[i])
                        n_bits += rice_put(&column_context_of(rows, i)->rice,
                                           column_zigzag(rows->scratch[at++]), out);
        return n_bits;
}

static uint64_t column_put_runs(const struct column_rows *rows, size_t n, struct bits_writer *out)
{
        struct rice run_code = { 0 }, value_code = { 0 };
        uint64_t n_bits = 0, run = 0;

        for (size_t i = 0; i < n; i++) {
                if (!rows->scratch[i]) {
                        run++;
                        continue;
                }
                n_bits += rice_put(&run_code, run, out);
                n_bits += rice_put(&value_code, column_zigzag(rows->scratch[i]) - 1, out);
                run = 0;
        }
        return run ? n_bits + rice_put(&run_code, run, out) : n_bits;
}

static uint64_t column_put_coded(const struct column_rows *rows, const struct coding *coding,
                                 struct bits_writer *out)
{
        size_t n = column_differences(rows, coding->mean);

        return coding->runs ? column_put_runs(rows, n, out) : column_put_plain(rows, out);
}

static void column_put_presence(const struct column_rows *rows, struct bits_writer *out)
{
        struct rice codes[2] = { 0 };
        bool present = false;
        uint64_t run = 0;

        for (size_t i = 0; i < rows->n; i++) {
                if (rows->present[i] == present) {
                        run++;
                        continue;
                }
                rice_put(&codes[present], run, out);
                present = !present;
                run = 1;
        }
        rice_put(&codes[present], run, out);
}

static uint64_t column_divisor(uint64_t a, uint64_t b)
{
        while (b) {
                uint64_t rest = a % b;

                a = b;
                b = rest;
        }
        return a;
}

/* Divides by what all differences to the first value have in common, if that is worth it. */
static void column_scale(const struct column_rows *rows, struct coding *coding)
{
        uint64_t common = 0;

        for (size_t i = 0; i < rows->n && common != 1; i++) {
                int64_t difference = column_minus(rows->values[i], coding->first);

                if (rows->present[i])
                        common = column_divisor(difference < 0 ? -(uint64_t)difference
                                                               : (uint64_t)difference,
                                                common);
        }
        if (common < 2 || common > INT64_MAX)
                return;
        coding->scaled = true;
        coding->scale = common;
        for (size_t i = 0; i < rows->n; i++)
                if (rows->present[i])
                        rows->values[i] =
                                column_minus(rows->values[i], coding->first) / (int64_t)common;
}

/* The cheapest of the four ways */
static void column_choose(const struct column_rows *rows, struct coding *coding)
{
        uint64_t best = UINT64_MAX;

        for (unsigned int i = 0; i < 4; i++) {
                struct coding tried = *coding;
                uint64_t n_bits;

                tried.mean = i & 1;
                tried.runs = i & 2;
                n_bits = column_put_coded(rows, &tried, NULL);
                if (n_bits < best) {
                        best = n_bits;
                        *coding = tried;
                }
        }
}

static enum shape column_measure_rows(const struct column_rows *rows, struct coding *coding)
{
        size_t n_present = 0;
        bool constant = true;

        for (size_t i = 0; i < rows->n; i++) {
                if (!rows->present[i])
                        continue;
                if (!n_present++)
                        coding->first = rows->values[i];
                constant = constant && rows->values[i] == coding->first;
        }
        coding->sparse = n_present < rows->n;
        if (!n_present)
                return SHAPE_ABSENT;
        if (!constant || coding->sparse)
                return SHAPE_CODED;
        return coding->first ? SHAPE_CONSTANT : SHAPE_ZERO;
}

void record_column_encode(const struct column_rows *rows, struct bits_writer *out)
{
        struct coding coding = { 0 };
        enum shape shape = column_measure_rows(rows, &coding);

        bits_write(out, shape, 2);
        if (shape == SHAPE_CONSTANT)
                rice_put_plain(column_zigzag(coding.first), out);
        if (shape != SHAPE_CODED)
                return;
        if (rows->n > 2 && !rows->chained)
                column_scale(rows, &coding);
        column_choose(rows, &coding);
        bits_write(out, coding.sparse, 1);
        bits_write(out, coding.scaled, 1);
        bits_write(out, coding.mean, 1);
        bits_write(out, coding.runs, 1);
        if (coding.sparse)
                column_put_presence(rows, out);
        if (coding.scaled) {
                rice_put_plain(column_zigzag(coding.first), out);
                rice_put_plain(coding.scale, out);
        }
        column_put_coded(rows, &coding, out);
}

static bool column_get_presence(const struct column_rows *rows, struct bits_reader *in)
{
        struct rice codes[2] = { 0 };
        bool present = false;

        for (size_t i = 0; i < rows->n; present = !present) {
                uint64_t run = rice_get(&codes[present], in);

                /* only the first run may be empty, or this would never end */
                if (run > rows->n - i || (!run && present) || (!run && i))
                        return false;
                for (; run; run--)
                        rows->present[i++] = present;
        }
        return true;
}

static void column_get_plain(const struct column_rows *rows, bool mean, struct bits_reader *in)
{
        for (size_t i = 0; i < rows->n; i++) {
                struct column_context *context;

                if (!rows->present[i])
                        continue;
                context = column_context_of(rows, i);
                rows->values[i] = column_plus(context->expected,
                                              column_unzigzag(rice_get(&context->rice, in)));
                column_expect(context, rows->values[i], mean);
        }
}

static void column_get_runs(const struct column_rows *rows, bool mean, struct bits_reader *in)
{
        struct rice run_code = { 0 }, value_code = { 0 };
        uint64_t left = 0;
        bool known = false; /* whether a run was read and not used up */

        for (size_t i = 0; i < rows->n; i++) {
                struct column_context *context;
                int64_t difference = 0;

                if (!rows->present[i])
                        continue;
                if (!known) {
                        left = rice_get(&run_code, in);
                        known = true;
                }
                if (left) {
                        left--;
                } else {
                        difference = column_unzigzag(rice_get(&value_code, in) + 1);
                        known = false;
                }
                context = column_context_of(rows, i);
                rows->values[i] = column_plus(context->expected, difference);
                column_expect(context, rows->values[i], mean);
        }
}

static bool column_get_coded(const struct column_rows *rows, struct bits_reader *in)
{
        uint64_t flags = bits_read(in, 4), factor = 1;
        int64_t first = 0;

        if ((flags & 1 && !column_get_presence(rows, in)) || (flags & 2 && rows->chained))
                return false;
        if (flags & 2) {
                first = column_unzigzag(rice_get_plain(in));
                factor = rice_get_plain(in);
        }
        column_forget(rows);
        if (flags & 8)
                column_get_runs(rows, flags & 4, in);
        else
                column_get_plain(rows, flags & 4, in);
        if (flags & 2)
                for (size_t i = 0; i < rows->n; i++)
                        rows->values[i] =
                                column_plus(first, (int64_t)((uint64_t)rows->values[i] * factor));
        return true;
}

bool record_column_decode(const struct column_rows *rows, struct bits_reader *in)
{
        uint64_t shape = bits_read(in, 2);
        int64_t value = 0;

        memset(rows->present, shape != SHAPE_ABSENT, rows->n * sizeof(*rows->present));
        if (shape == SHAPE_CODED)
                return column_get_coded(rows, in);
        if (shape == SHAPE_CONSTANT)
                value = column_unzigzag(rice_get_plain(in));
        for (size_t i = 0; i < rows->n; i++)
                rows->values[i] = value;
        return true;
}
