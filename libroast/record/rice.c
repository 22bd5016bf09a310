/* Adaptive Rice codes, as far as they are not inline: see rice.h. */

#include "record/rice.h"

static void rice_write_wide(struct bits_writer *out, uint64_t value, unsigned int count)
{
        if (count > 32) {
                bits_write(out, value & UINT32_MAX, 32);
                bits_write(out, value >> 32, count - 32);
        } else {
                bits_write(out, value, count);
        }
}

uint64_t rice_put_plain(uint64_t value, struct bits_writer *out)
{
        unsigned int length = rice_length(value);

        if (out) {
                bits_write(out, length, 7);
                if (length > 1)
                        rice_write_wide(out, value ^ UINT64_C(1) << (length - 1), length - 1);
        }
        return 7 + (length ? length - 1 : 0);
}

uint64_t rice_get_plain(struct bits_reader *in)
{
        unsigned int length = (unsigned int)bits_read(in, 7);

        if (length == 0 || length > 64)
                return 0;
        return UINT64_C(1) << (length - 1) | bits_read(in, length - 1);
}

uint64_t rice_put(struct rice *rice, uint64_t value, struct bits_writer *out)
{
        unsigned int k = rice_parameter(rice);
        uint64_t ones = value >> k, n_bits;

        if (!rice->begun) {
                n_bits = rice_put_plain(value, out);
        } else if (ones < RICE_ONES_MAX) {
                n_bits = ones + 1 + k;
                if (out) {
                        bits_write(out, (UINT64_C(1) << ones) - 1, (unsigned int)ones + 1);
                        rice_write_wide(out, value & ((UINT64_C(1) << k) - 1), k);
                }
        } else {
                n_bits = RICE_ONES_MAX + 64;
                if (out) {
                        bits_write(out, (UINT64_C(1) << RICE_ONES_MAX) - 1, RICE_ONES_MAX);
                        rice_write_wide(out, value, 64);
                }
        }
        rice_learn(rice, value);
        return n_bits;
}
