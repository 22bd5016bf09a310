#pragma once
/* Numbers as SQLite writes them into its files: https://www.sqlite.org/fileformat2.html */

#include <stdint.h>

static inline uint32_t be16(const uint8_t *at)
{
        return (uint32_t)at[0] << 8 | at[1];
}

static inline uint32_t be32(const uint8_t *at)
{
        return be16(at) << 16 | be16(at + 2);
}
