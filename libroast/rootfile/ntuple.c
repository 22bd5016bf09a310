/* RNTuple: anchor, header and footer; see ntuple.h. */

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "rootfile/ntuple.h"
#include "util/cleanup.h"

/* Where the anchor says that header and footer are. */
struct anchor {
        struct locator header;
        uint64_t header_len;
        struct locator footer;
        uint64_t footer_len;
};

static void ntuple_reader_deinit(struct ntuple_reader *reader)
{
        buf_deinit(&reader->fields);
        buf_deinit(&reader->columns);
        buf_deinit(&reader->aliases);
        buf_deinit(&reader->clusters);
        buf_deinit(&reader->pages);
}

static int ntuple_anchor_read(struct ntuple_reader *reader, const struct key *key,
                              struct anchor *anchor, struct roast_error *error)
{
        ROAST_CLEANUP(body_deinit) struct body body = { 0 };
        struct roast_root_ntuple *ntuple = reader->ntuple;
        struct cursor cursor, members, whole;
        uint16_t version;
        int r;

        r = body_load(reader->file, key, &body, error);
        if (r < 0)
                return r;
        cursor = cursor_init(body.data, body.len);
        whole = members = wire_enter(&cursor, &version);
        for (size_t i = 0; i < 4; i++)
                ntuple->version[i] = wire_u16(&members);
        anchor->header.seek = wire_u64(&members);
        anchor->header.bytes = wire_u64(&members);
        anchor->header_len = wire_u64(&members);
        anchor->footer.seek = wire_u64(&members);
        anchor->footer.bytes = wire_u64(&members);
        anchor->footer_len = wire_u64(&members);
        if (members.bad)
                return roast_fail(error, ROAST_E_CORRUPT, "its anchor is too short");
        if (ntuple->version[0] != 1)
                return roast_fail(error, ROAST_E_VERSION, "RNTuple version %u.%u is not known",
                                  ntuple->version[0], ntuple->version[1]);
        if (wire_u64(&cursor) != XXH3_64bits(whole.at, cursor_left(&whole)) || cursor.bad)
                return roast_fail(error, ROAST_E_CORRUPT, "the checksum of its anchor is wrong");
        return 0;
}

static int ntuple_header_read(struct ntuple_reader *reader, const struct anchor *anchor,
                              struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_free) uint8_t *data = NULL;
        struct arena *arena = &reader->file->arena;
        struct roast_root_ntuple *ntuple = reader->ntuple;
        struct text name, writer;
        struct cursor cursor;
        int r;

        r = stored_load(reader->file, anchor->header.seek, anchor->header.bytes, anchor->header_len,
                        &data, error);
        if (r < 0)
                return r;
        cursor = envelope_open(data, (size_t)anchor->header_len, ENVELOPE_HEADER,
                               &reader->header_checksum);
        frame_feature_flags(&cursor);
        name = frame_string(&cursor);
        frame_string(&cursor); /* description */
        writer = frame_string(&cursor);
        if (cursor.bad)
                return roast_fail(error, ROAST_E_CORRUPT, "its header is damaged");
        ntuple->name = arena_text(arena, name.at, name.len);
        ntuple->writer = arena_text(arena, writer.at, writer.len);
        if (!ntuple->name || !ntuple->writer)
                return rootfile_fail_arena(reader->file, error);
        return schema_read(reader, &cursor, error);
}

static int ntuple_groups_read(struct ntuple_reader *reader, struct cursor *footer,
                              struct roast_error *error)
{
        size_t n;
        struct cursor groups = frame_list(footer, &n);
        int r;

        for (size_t i = 0; i < n; i++) {
                struct cursor group = frame_record(&groups);
                struct locator locator;
                uint64_t expanded;

                cursor_take(&group, 8 + 8 + 4); /* first entry, entries, clusters */
                expanded = cursor_u64(&group);
                locator = frame_locator(&group);
                if (group.bad)
                        return roast_fail(error, ROAST_E_CORRUPT, "a cluster group is damaged");
                r = pages_read(reader, &locator, expanded, error);
                if (r < 0)
                        return r;
        }
        if (footer->bad)
                return roast_fail(error, ROAST_E_CORRUPT, "its footer is damaged");
        reader->ntuple->num_cluster_groups = n;
        return 0;
}

static int ntuple_footer_read(struct ntuple_reader *reader, const struct anchor *anchor,
                              struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_free) uint8_t *data = NULL;
        size_t fields = reader->fields.len, columns = reader->columns.len;
        struct cursor cursor, extension;
        uint64_t checksum;
        int r;

        r = stored_load(reader->file, anchor->footer.seek, anchor->footer.bytes, anchor->footer_len,
                        &data, error);
        if (r < 0)
                return r;
        cursor = envelope_open(data, (size_t)anchor->footer_len, ENVELOPE_FOOTER, &checksum);
        frame_feature_flags(&cursor);
        checksum = cursor_u64(&cursor);
        extension = frame_record(&cursor);
        if (cursor.bad || checksum != reader->header_checksum)
                return roast_fail(error, ROAST_E_CORRUPT, "its footer is damaged");
        r = schema_read(reader, &extension, error);
        if (r < 0)
                return r;
        reader->ntuple->extension_fields =
                (reader->fields.len - fields) / sizeof(struct roast_root_field);
        reader->ntuple->extension_columns =
                (reader->columns.len - columns) / sizeof(struct roast_root_column);
        r = schema_finish(reader, error);
        return r < 0 ? r : ntuple_groups_read(reader, &cursor, error);
}

int ntuple_read(struct rootfile *file, const struct found *found, struct roast_root_ntuple *ntuple,
                struct roast_error *error)
{
        ROAST_CLEANUP(ntuple_reader_deinit)
        struct ntuple_reader reader = { .file = file, .ntuple = ntuple };
        struct anchor anchor;
        int r;

        *ntuple = (struct roast_root_ntuple){
                .path = found->path,
                .cycle = found->key.cycle,
                .other_cycles = found->other_cycles,
                .num_other_cycles = found->num_other_cycles,
        };
        if (strcmp(found->class_name, "ROOT::RNTuple") != 0)
                return roast_fail(error, ROAST_E_VERSION, "written before RNTuple version 1");
        r = ntuple_anchor_read(&reader, &found->key, &anchor, error);
        if (r < 0)
                return r;
        ntuple->header_bytes = anchor.header.bytes;
        ntuple->header_len = anchor.header_len;
        ntuple->footer_bytes = anchor.footer.bytes;
        ntuple->footer_len = anchor.footer_len;
        r = ntuple_header_read(&reader, &anchor, error);
        if (r < 0)
                return r;
        r = ntuple_footer_read(&reader, &anchor, error);
        return r < 0 ? r : pages_finish(&reader, error);
}
