/* The page lists of an RNTuple, and how the pages are stored. */

#include <stdlib.h>

#include "rootfile/compress.h"
#include "rootfile/ntuple.h"
#include "rootfile/places.h"
#include "util/cleanup.h"

#define CLUSTER_ENTRIES_MASK ((UINT64_C(1) << 56) - 1) /* flags are above */
#define CHECKSUM_BYTES       8

static int pages_clusters_read(struct ntuple_reader *reader, struct cursor *cursor,
                               struct roast_error *error)
{
        size_t n;
        struct cursor list = frame_list(cursor, &n);

        for (size_t i = 0; i < n; i++) {
                struct cursor record = frame_record(&list);
                struct roast_root_cluster cluster;

                cluster.first_entry = cursor_u64(&record);
                cluster.entries = cursor_u64(&record) & CLUSTER_ENTRIES_MASK;
                if (record.bad)
                        return roast_fail(error, ROAST_E_CORRUPT, "a cluster is damaged");
                if (buf_append(&reader->clusters, &cluster, sizeof(cluster)) < 0)
                        return roast_fail_nomem(error);
                reader->ntuple->entries += cluster.entries;
        }
        return 0;
}

static void pages_setting_note(struct roast_root_column *column, uint32_t setting)
{
        size_t i = column->num_settings;

        for (size_t k = 0; k < column->num_settings; k++)
                if (column->settings[k] == setting)
                        return;
        if (i == ROAST_ROOT_SETTINGS_MAX)
                return;
        for (; i > 0 && column->settings[i - 1] > setting; i--)
                column->settings[i] = column->settings[i - 1];
        column->settings[i] = setting;
        column->num_settings++;
}

/* The pages of a column in a cluster; behind them its first element and the compression. */
static int pages_read_column(struct ntuple_reader *reader, struct cursor *outer, uint32_t cluster,
                             uint32_t number, struct roast_error *error)
{
        struct roast_root_column *column =
                (struct roast_root_column *)&reader->ntuple->columns[number];
        size_t n;
        struct cursor list = frame_list(outer, &n);

        for (size_t i = 0; i < n; i++) {
                struct roast_root_page page = {
                        .cluster = cluster,
                        .column = number,
                        .algorithm = ROAST_ROOT_UNKNOWN,
                };
                int64_t elements = (int32_t)cursor_u32(&list);
                struct locator locator = frame_locator(&list);

                page.checksum = elements < 0;
                page.elements = (uint64_t)(elements < 0 ? -elements : elements);
                page.seek = locator.seek;
                page.bytes = locator.bytes;
                if (list.bad || page.bytes > reader->file->source.size)
                        return roast_fail(error, ROAST_E_CORRUPT, "a page is damaged");
                if (buf_append(&reader->pages, &page, sizeof(page)) < 0)
                        return roast_fail_nomem(error);
                column->num_pages++;
        }
        if ((int64_t)cursor_u64(&list) < 0)
                column->suppressed_clusters++;
        else
                pages_setting_note(column, cursor_u32(&list));
        if (list.bad)
                return roast_fail(error, ROAST_E_CORRUPT, "a list of pages is damaged");
        return 0;
}

static int pages_places_read(struct ntuple_reader *reader, struct cursor *cursor,
                             size_t first_cluster, struct roast_error *error)
{
        size_t num_clusters;
        struct cursor clusters = frame_list(cursor, &num_clusters);
        size_t known = reader->clusters.len / sizeof(struct roast_root_cluster);
        int r;

        if (cursor->bad || num_clusters != known - first_cluster)
                return roast_fail(error, ROAST_E_CORRUPT, "a page list is damaged");
        for (size_t i = 0; i < num_clusters; i++) {
                size_t n;
                struct cursor columns = frame_list(&clusters, &n);

                if (clusters.bad || n > reader->ntuple->num_columns)
                        return roast_fail(error, ROAST_E_CORRUPT, "a page list is damaged");
                for (size_t c = 0; c < n; c++) {
                        r = pages_read_column(reader, &columns, (uint32_t)(first_cluster + i),
                                              (uint32_t)c, error);
                        if (r < 0)
                                return r;
                }
        }
        return 0;
}

int pages_read(struct ntuple_reader *reader, const struct locator *locator, uint64_t expanded,
               struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_free) uint8_t *data = NULL;
        size_t first_cluster = reader->clusters.len / sizeof(struct roast_root_cluster);
        struct cursor cursor;
        uint64_t checksum;
        int r;

        r = stored_load(reader->file, locator->seek, locator->bytes, expanded, &data, error);
        if (r < 0)
                return r;
        cursor = envelope_open(data, (size_t)expanded, ENVELOPE_PAGE_LIST, &checksum);
        checksum = cursor_u64(&cursor);
        if (cursor.bad || checksum != reader->header_checksum)
                return roast_fail(error, ROAST_E_CORRUPT, "a page list is damaged");
        r = pages_clusters_read(reader, &cursor, error);
        return r < 0 ? r : pages_places_read(reader, &cursor, first_cluster, error);
}

static uint64_t pages_expanded(const struct roast_root_page *page,
                               const struct roast_root_column *column)
{
        return (page->elements * column->bits + 7) / 8;
}

/* From cluster order to column order; clusters stay in order within a column. */
static struct roast_root_page *pages_assign(struct ntuple_reader *reader,
                                            struct roast_root_column *columns)
{
        const struct roast_root_page *read = (const void *)reader->pages.data;
        size_t n = reader->ntuple->num_pages;
        struct roast_root_page *pages = arena_take(&reader->file->arena, n, sizeof(*pages));
        struct roast_root_page *next = pages;

        if (!pages)
                return NULL;
        for (size_t i = 0; i < reader->ntuple->num_columns; i++) {
                columns[i].pages = next;
                next += columns[i].num_pages;
                columns[i].num_pages = 0;
        }
        for (size_t i = 0; i < n; i++) {
                struct roast_root_column *column = &columns[read[i].column];

                ((struct roast_root_page *)column->pages)[column->num_pages++] = read[i];
                column->elements += read[i].elements;
                column->compressed_bytes += read[i].bytes;
                column->uncompressed_bytes += pages_expanded(&read[i], column);
                column->checksum_bytes += read[i].checksum ? CHECKSUM_BYTES : 0;
        }
        return pages;
}

static enum roast_root_algorithm pages_look_one(struct source *source, const struct place *places,
                                                size_t n, size_t i)
{
        const uint8_t *view = NULL;
        struct block block;

        if (places_view(source, places, n, i, BLOCK_HEADER_BYTES, &view, NULL) !=
                    BLOCK_HEADER_BYTES ||
            !block_parse(view, &block))
                return ROAST_ROOT_UNKNOWN;
        return block.algorithm;
}

/* In the order of their places, so that shared pages come one after the other. */
static int pages_look(struct ntuple_reader *reader, struct roast_root_column *columns,
                      struct roast_root_page *pages, struct roast_error *error)
{
        struct roast_root_ntuple *ntuple = reader->ntuple;
        size_t n = ntuple->num_pages;
        ROAST_CLEANUP(cleanup_free) struct place *places = calloc(n + 1, sizeof(*places));
        const struct roast_root_page *before = NULL;

        if (!places)
                return roast_fail_nomem(error);
        for (size_t i = 0; i < n; i++)
                places[i] = (struct place){ pages[i].seek, i };
        places_sort(places, n);
        for (size_t i = 0; i < n; i++) {
                struct roast_root_page *page = &pages[places[i].index];
                struct roast_root_column *column = &columns[page->column];
                bool shared = before && before->seek == page->seek;

                if (!shared)
                        ntuple->unique_bytes += page->bytes;
                if (!shared || before->column != page->column)
                        column->unique_bytes += page->bytes;
                before = page;
                if (reader->file->options.without_algorithms)
                        continue;
                page->algorithm = ROAST_ROOT_NONE;
                if (page->bytes < pages_expanded(page, column))
                        page->algorithm = pages_look_one(&reader->file->source, places, n, i);
                column->algorithms.of[page->algorithm]++;
                ntuple->algorithms.of[page->algorithm]++;
        }
        return 0;
}

static void pages_ntuple_sum(struct roast_root_ntuple *ntuple, struct roast_root_field *fields)
{
        for (size_t i = 0; i < ntuple->num_columns; i++) {
                const struct roast_root_column *column = &ntuple->columns[i];

                ntuple->compressed_bytes += column->compressed_bytes;
                ntuple->uncompressed_bytes += column->uncompressed_bytes;
                ntuple->checksum_bytes += column->checksum_bytes;
                fields[column->field].compressed_bytes += column->compressed_bytes;
        }
        /* Children come behind their parents: going backwards, each is complete. */
        for (size_t i = ntuple->num_fields; i-- > 0;) {
                fields[i].subtree_compressed_bytes += fields[i].compressed_bytes;
                if (fields[i].parent != i)
                        fields[fields[i].parent].subtree_compressed_bytes +=
                                fields[i].subtree_compressed_bytes;
        }
}

int pages_finish(struct ntuple_reader *reader, struct roast_error *error)
{
        struct roast_root_ntuple *ntuple = reader->ntuple;
        struct roast_root_column *columns = (struct roast_root_column *)ntuple->columns;
        struct roast_root_page *pages;

        ntuple->num_clusters = reader->clusters.len / sizeof(*ntuple->clusters);
        ntuple->num_pages = reader->pages.len / sizeof(*pages);
        ntuple->clusters =
                arena_copy(&reader->file->arena, reader->clusters.data, reader->clusters.len);
        pages = pages_assign(reader, columns);
        if (!ntuple->clusters || !pages)
                return rootfile_fail_arena(reader->file, error);
        pages_ntuple_sum(ntuple, (struct roast_root_field *)ntuple->fields);
        return pages_look(reader, columns, pages, error);
}
