/*
 * The rows of a run in memory: see memory.h.
 *
 * A row is a string of cells, one after the other in blocks that never move:
 *
 *   +-------------------+-------------------+-----------------------------+
 *   | type:3, size:5    | number: size bytes| of strings: bytes, then NUL |
 *   +-------------------+-------------------+-----------------------------+
 *
 * The number is an integer (zigzag), the bits of a real, or the length of a
 * string, little-endian, without its leading zeroes. Numbers are written and
 * read eight bytes at a time: behind each row there is room for that.
 */

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "roast-error.h"
#include "run/memory.h"
#include "run/schema.h"
#include "util/array.h"
#include "util/size.h"

#define CELL_SIZE  (1 + sizeof(uint64_t))
#define BLOCK_SIZE ((size_t)1 << 16)
#define TYPE_BITS  3

struct memory_block {
        struct memory_block *before;
        uint8_t data[];
};

struct memory_table {
        uint8_t **rows; /* by id - 1 */
        size_t n;
        size_t cap;
};

struct memory {
        struct memory_block *last;
        uint8_t *at; /* where the next row goes */
        size_t room;
        struct memory_table tables[RUN_N_TABLES];
};

struct memory *memory_new(void)
{
        return calloc(1, sizeof(struct memory));
}

void memory_free(struct memory *memory)
{
        if (!memory)
                return;
        while (memory->last) {
                struct memory_block *block = memory->last;

                memory->last = block->before;
                free(block);
        }
        for (size_t i = 0; i < RUN_N_TABLES; i++)
                free(memory->tables[i].rows);
        free(memory);
}

static bool memory_is_long(const struct run_value *value)
{
        return value->type == RUN_STRING || value->type == RUN_BYTES;
}

/* Room for `size` bytes in the last block */
static int memory_make_room(struct memory *memory, size_t size)
{
        struct memory_block *block;

        if (size <= memory->room)
                return 0;
        if (size < BLOCK_SIZE)
                size = BLOCK_SIZE;
        if (size > SIZE_MAX - sizeof(*block) || !(block = malloc(sizeof(*block) + size)))
                return ROAST_E_NOMEM;
        block->before = memory->last;
        memory->last = block;
        memory->at = block->data;
        memory->room = size;
        return 0;
}

static uint64_t memory_number_of(const struct run_value *value)
{
        uint64_t number = (uint64_t)value->integer;

        switch (value->type) {
        case RUN_NULL:
                return 0;
        case RUN_INT:
                return number << 1 ^ (value->integer < 0 ? UINT64_MAX : 0);
        case RUN_REAL:
                memcpy(&number, &value->real, sizeof(number));
                return number;
        case RUN_STRING:
        case RUN_BYTES:
                break;
        }
        return value->len;
}

static uint8_t *memory_put(uint8_t *at, const struct run_value *value)
{
        uint64_t number = memory_number_of(value);
        unsigned int size = number ? 8 - (unsigned int)__builtin_clzll(number) / 8 : 0;

        *at++ = (uint8_t)((unsigned int)value->type | size << TYPE_BITS);
        number = htole64(number);
        memcpy(at, &number, sizeof(number));
        at += size;
        if (!memory_is_long(value))
                return at;
        if (value->len)
                memcpy(at, value->data, value->len);
        at[value->len] = 0;
        return at + value->len + 1;
}

int memory_add(struct memory *memory, unsigned int number, const struct run_value *values, size_t n)
{
        struct memory_table *table = &memory->tables[number];
        size_t size = n * CELL_SIZE + sizeof(uint64_t);
        uint8_t *at;

        for (size_t i = 0; i < n; i++)
                if (memory_is_long(&values[i]) && !size_add(size, values[i].len + 1, &size))
                        return ROAST_E_NOMEM;
        if (ARRAY_ROOM(table->rows, table->n, table->cap) < 0 || memory_make_room(memory, size) < 0)
                return ROAST_E_NOMEM;
        at = memory->at;
        for (size_t i = 0; i < n; i++) {
                if (values[i].type == RUN_NULL)
                        *at++ = 0;
                else
                        at = memory_put(at, &values[i]);
        }
        table->rows[table->n++] = memory->at;
        memory->room -= (size_t)(at - memory->at);
        memory->at = at;
        return 0;
}

void memory_read(const struct memory *memory, unsigned int table, int64_t id,
                 struct run_value *values, size_t n)
{
        const uint8_t *at = memory->tables[table].rows[id - 1];

        for (size_t i = 0; i < n; i++) {
                struct run_value value = { .type = *at & ((1u << TYPE_BITS) - 1) };
                unsigned int size = *at++ >> TYPE_BITS;
                uint64_t number;

                if (value.type == RUN_NULL) {
                        values[i] = value;
                        continue;
                }
                memcpy(&number, at, sizeof(number));
                number = size ? le64toh(number) & UINT64_MAX >> (64 - 8 * size) : 0;
                at += size;
                if (value.type == RUN_INT) {
                        value.integer = (int64_t)(number >> 1 ^ (0 - (number & 1)));
                } else if (value.type == RUN_REAL) {
                        memcpy(&value.real, &number, sizeof(number));
                } else if (memory_is_long(&value)) {
                        value.data = at;
                        value.len = (size_t)number;
                        at += value.len + 1;
                }
                values[i] = value;
        }
}
