/* Rows of a table straight from the pages of the file: see pages.h. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "roast-error.h"
#include "run/pages.h"
#include "run/sqlite-file.h"
#include "util/buf.h"
#include "util/cleanup.h"

#define FILE_HEADER   100
#define LEAF          0x0d
#define LEAF_HEADER   8
#define INNER         0x05
#define INNER_HEADER  12
#define DEPTH_MAX     20 /* as SQLite itself */
#define VARINT_MAX    9
#define SLACK         8 /* behind each buffer: an integer is read as 8 bytes */
#define ENCODING_UTF8 1

/* A page on the way from the root to the current row */
struct level {
        uint8_t *page; /* usable bytes of it, and the slack */
        unsigned int n_cells;
        unsigned int at; /* the cell that comes next; in an inner page n_cells is the last child */
        bool leaf;
};

struct pages {
        sqlite3_file *file;
        uint32_t page_size;
        uint32_t usable; /* without what is reserved at the end of each page */
        uint32_t n_pages;
        struct level levels[DEPTH_MAX];
        unsigned int depth;
        struct buf long_row; /* one that goes on in other pages */
};

static uint64_t pages_be64(const uint8_t *at)
{
        uint64_t value;

        memcpy(&value, at, sizeof(value));
        return __builtin_bswap64(value);
}

static int pages_read_bytes(const struct pages *pages, void *data, uint32_t len, uint64_t offset)
{
        int rc = pages->file->pMethods->xRead(pages->file, data, (int)len, (sqlite3_int64)offset);

        if (rc == SQLITE_OK)
                return 0;
        return rc == SQLITE_IOERR_SHORT_READ ? ROAST_E_CORRUPT : ROAST_E_IO;
}

static int pages_read_one(const struct pages *pages, uint32_t number, uint8_t *page)
{
        if (number < 2 || number > pages->n_pages) /* the first one is the schema's */
                return ROAST_E_CORRUPT;
        return pages_read_bytes(pages, page, pages->usable,
                                (uint64_t)(number - 1) * pages->page_size);
}

static int pages_enter(struct pages *pages, uint32_t number)
{
        struct level *level = &pages->levels[pages->depth];
        int r;

        if (pages->depth == DEPTH_MAX)
                return ROAST_E_CORRUPT;
        if (!level->page)
                level->page = calloc(1, pages->page_size + SLACK);
        if (!level->page)
                return ROAST_E_NOMEM;
        r = pages_read_one(pages, number, level->page);
        if (r < 0)
                return r;
        level->leaf = level->page[0] == LEAF;
        level->n_cells = be16(level->page + 3);
        level->at = 0;
        if (!level->leaf && level->page[0] != INNER)
                return ROAST_E_CORRUPT;
        if ((level->leaf ? LEAF_HEADER : INNER_HEADER) + 2 * level->n_cells > pages->usable)
                return ROAST_E_CORRUPT;
        /* Only the root of an empty table is an empty leaf: the walk ends, whatever is damaged. */
        if (level->leaf && level->n_cells == 0 && pages->depth > 0)
                return ROAST_E_CORRUPT;
        pages->depth++;
        return 0;
}

/* The first byte of the cell that comes next, with at least one byte that can be read */
static const uint8_t *pages_next_cell(const struct pages *pages, struct level *level)
{
        unsigned int header = level->leaf ? LEAF_HEADER : INNER_HEADER;
        uint32_t offset = be16(level->page + header + 2 * level->at++);

        return offset < pages->usable ? level->page + offset : NULL;
}

/* The bytes that a number takes, or 0 if it does not end before `end` */
static size_t pages_get_varint(const uint8_t *at, const uint8_t *end, uint64_t *value)
{
        *value = 0;
        for (size_t i = 0; i < VARINT_MAX && at + i < end; i++) {
                if (i == VARINT_MAX - 1) {
                        *value = *value << 8 | at[i];
                        return VARINT_MAX;
                }
                *value = *value << 7 | (at[i] & 0x7f);
                if (!(at[i] & 0x80))
                        return i + 1;
        }
        return 0;
}

/* How much of a row stands in its leaf */
static uint32_t pages_local_size(const struct pages *pages, uint64_t size)
{
        uint32_t most = pages->usable - 35, least = (pages->usable - 12) * 32 / 255 - 23, local;

        if (size <= most)
                return (uint32_t)size;
        local = least + (uint32_t)((size - least) % (pages->usable - 4));
        return local <= most ? local : least;
}

static int pages_read_long_row(struct pages *pages, const uint8_t *local, uint32_t n_local,
                               uint64_t size)
{
        ROAST_CLEANUP(cleanup_free) uint8_t *page = malloc(pages->page_size);
        uint32_t next = be32(local + n_local);

        if (size > (uint64_t)pages->n_pages * pages->usable)
                return ROAST_E_CORRUPT;
        buf_clear(&pages->long_row);
        if (!page || buf_reserve(&pages->long_row, size + SLACK) < 0 ||
            buf_append(&pages->long_row, local, n_local) < 0)
                return ROAST_E_NOMEM;
        while (pages->long_row.len < size) {
                size_t part = size - pages->long_row.len;
                int r = pages_read_one(pages, next, page);

                if (r < 0)
                        return r;
                if (part > pages->usable - 4)
                        part = pages->usable - 4;
                if (buf_append(&pages->long_row, page + 4, part) < 0)
                        return ROAST_E_NOMEM;
                next = be32(page);
        }
        return 0;
}

/* A value by its type, which tells its size too; `at` has size bytes and the slack. */
static inline void pages_get_value(struct run_value *value, uint64_t type, const uint8_t *at,
                                   size_t size)
{
        *value = (struct run_value){ 0 };
        if (type == 0)
                return;
        if (type >= 12) {
                value->type = type & 1 ? RUN_STRING : RUN_BYTES;
                value->data = at;
                value->len = size;
        } else if (type == 7) {
                uint64_t bits = pages_be64(at);

                memcpy(&value->real, &bits, sizeof(bits));
                value->type = isnan(value->real) ? RUN_NULL : RUN_REAL;
        } else {
                value->type = RUN_INT;
                value->integer =
                        size ? (int64_t)pages_be64(at) >> (64 - 8 * size) : (int64_t)type - 8;
        }
}

/* A row is a header, with its own length and a type for each column, and the values. */
static int pages_get_row(struct run_value *values, size_t n, uint64_t wanted, const uint8_t *row,
                         uint64_t len)
{
        static const uint8_t sizes[12] = { 0, 1, 2, 3, 4, 6, 8, 8, 0, 0 };
        const uint8_t *end = row + len, *types, *types_end, *at;
        const struct run_value *values_end = values + n;
        uint64_t header;
        size_t used = pages_get_varint(row, end, &header);

        if (used == 0 || header < used || header > len)
                return ROAST_E_CORRUPT;
        types = row + used;
        at = types_end = row + header;
        for (size_t i = 0; i <= n && types < types_end; i++) {
                uint64_t type = *types, size;

                used = type < 0x80 ? 1 : pages_get_varint(types, types_end, &type);
                size = type >= 12 ? (type - 12) / 2 : sizes[type];
                if (used == 0 || type == 10 || type == 11 || size > (uint64_t)(end - at))
                        return ROAST_E_CORRUPT;
                types += used;
                if (i > 0) { /* the id is not kept among the values */
                        if (wanted & 1)
                                pages_get_value(values, type, at, size);
                        wanted >>= 1;
                        values++;
                }
                at += size;
        }
        while (values < values_end) /* columns that came later */
                *values++ = (struct run_value){ 0 };
        return 0;
}

static int pages_read_row(struct pages *pages, const uint8_t *cell, const uint8_t *end, int64_t *id,
                          struct run_value *values, size_t n, uint64_t wanted)
{
        uint64_t size, row_id;
        uint32_t local;
        size_t used;
        int r;

        used = pages_get_varint(cell, end, &size);
        cell += used;
        if (used == 0 || (used = pages_get_varint(cell, end, &row_id)) == 0)
                return ROAST_E_CORRUPT;
        cell += used;
        *id = (int64_t)row_id;
        local = pages_local_size(pages, size);
        if (local + (local < size ? 4 : 0) > (size_t)(end - cell))
                return ROAST_E_CORRUPT;
        if (local == size)
                return pages_get_row(values, n, wanted, cell, size);
        r = pages_read_long_row(pages, cell, local, size);
        return r < 0 ? r : pages_get_row(values, n, wanted, pages->long_row.data, size);
}

int pages_next(struct pages *pages, int64_t *id, struct run_value *values, size_t n,
               uint64_t wanted)
{
        while (pages->depth > 0) {
                struct level *level = &pages->levels[pages->depth - 1];
                const uint8_t *cell, *end = level->page + pages->usable;
                int r;

                if (level->at == level->n_cells + !level->leaf) {
                        pages->depth--;
                        continue;
                }
                if (!level->leaf && level->at == level->n_cells) {
                        cell = level->page + 8;
                        level->at++;
                } else {
                        cell = pages_next_cell(pages, level);
                }
                if (!cell)
                        return ROAST_E_CORRUPT;
                if (level->leaf) {
                        r = pages_read_row(pages, cell, end, id, values, n, wanted);
                        return r < 0 ? r : 1;
                }
                if (end - cell < 4)
                        return ROAST_E_CORRUPT;
                r = pages_enter(pages, be32(cell));
                if (r < 0)
                        return r;
        }
        return 0;
}

/* What the file says of itself: 1, or 0 if it is not to be read here */
static int pages_read_header(struct pages *pages)
{
        uint8_t header[FILE_HEADER];
        sqlite3_int64 size;
        int r = pages_read_bytes(pages, header, sizeof(header), 0);

        if (r < 0)
                return r;
        if (pages->file->pMethods->xFileSize(pages->file, &size) != SQLITE_OK)
                return ROAST_E_IO;
        pages->page_size = be16(header + 16) == 1 ? 65536 : be16(header + 16);
        if (pages->page_size < 512 || header[20] > pages->page_size - 480)
                return ROAST_E_CORRUPT;
        pages->usable = pages->page_size - header[20];
        size /= pages->page_size;
        pages->n_pages = size > UINT32_MAX ? UINT32_MAX : (uint32_t)size;
        return header[18] == 1 && header[19] == 1 && be32(header + 56) == ENCODING_UTF8;
}

/* The page of a table's root, or 0; within a transaction this takes the lock too. */
static int pages_find_root(sqlite3 *db, const char *table, uint32_t *root)
{
        sqlite3_stmt *stmt = NULL;
        int rc;

        *root = 0;
        rc = sqlite3_prepare_v2(db, "SELECT rootpage FROM sqlite_schema WHERE name=?", -1, &stmt,
                                NULL);
        if (rc == SQLITE_OK)
                rc = sqlite3_bind_text(stmt, 1, table, -1, SQLITE_STATIC);
        if (rc == SQLITE_OK)
                rc = sqlite3_step(stmt);
        if (rc == SQLITE_ROW)
                *root = (uint32_t)sqlite3_column_int64(stmt, 0);
        sqlite3_finalize(stmt);
        return rc == SQLITE_ROW || rc == SQLITE_DONE ? 0
               : rc == SQLITE_NOMEM                  ? ROAST_E_NOMEM
                                                     : ROAST_E_IO;
}

static int pages_begin(struct pages *pages, sqlite3 *db, const char *table)
{
        uint32_t root;
        int r;

        r = pages_find_root(db, table, &root);
        if (r < 0)
                return r;
        if (sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &pages->file) !=
                    SQLITE_OK ||
            !pages->file->pMethods)
                return 0;
        r = pages_read_header(pages);
        if (r <= 0)
                return r;
        r = pages_enter(pages, root);
        return r < 0 ? r : 1;
}

int pages_open(struct pages **ret, sqlite3 *db, const char *table)
{
        struct pages *pages;
        int r;

        if (sqlite3_get_autocommit(db))
                return 0;
        pages = calloc(1, sizeof(*pages));
        if (!pages)
                return ROAST_E_NOMEM;
        r = pages_begin(pages, db, table);
        if (r <= 0) {
                pages_free(pages);
                return r;
        }
        *ret = pages;
        return 1;
}

void pages_free(struct pages *pages)
{
        if (!pages)
                return;
        for (size_t i = 0; i < DEPTH_MAX; i++)
                free(pages->levels[i].page);
        buf_deinit(&pages->long_row);
        free(pages);
}
