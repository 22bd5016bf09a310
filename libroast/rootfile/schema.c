/* The fields and columns of an RNTuple. */

#include <stdlib.h>
#include <string.h>

#include "rootfile/ntuple.h"
#include "util/size.h"

#define FIELD_REPETITIVE 0x01
#define FIELD_PROJECTED  0x02
#define COLUMN_DEFERRED  0x01

const char *roast_root_column_type_name(uint16_t type)
{
        static const char *const names[] = {
                "Bit",         "Byte",         "Char",         "Int8",        "UInt8",
                "Int16",       "UInt16",       "Int32",        "UInt32",      "Int64",
                "UInt64",      "Real16",       "Real32",       "Real64",      "Index32",
                "Index64",     "Switch",       "SplitInt16",   "SplitUInt16", "SplitInt32",
                "SplitUInt32", "SplitInt64",   "SplitUInt64",  "SplitReal16", "SplitReal32",
                "SplitReal64", "SplitIndex32", "SplitIndex64", "Real32Trunc", "Real32Quant",
        };

        return type < ROAST_ARRAY_SIZE(names) ? names[type] : "Unknown";
}

static int schema_field_read(struct ntuple_reader *reader, struct cursor *outer,
                             struct roast_error *error)
{
        struct arena *arena = &reader->file->arena;
        struct cursor record = frame_record(outer);
        struct roast_root_field field = { 0 };
        struct text name, type;
        uint16_t flags;

        cursor_take(&record, 8); /* versions of field and type */
        field.parent = cursor_u32(&record);
        field.role = frame_u16(&record);
        flags = frame_u16(&record);
        field.projected = flags & FIELD_PROJECTED;
        name = frame_string(&record);
        type = frame_string(&record);
        if (record.bad)
                return roast_fail(error, ROAST_E_CORRUPT, "a field is damaged");
        field.name = arena_text(arena, name.at, name.len);
        field.type = arena_text(arena, type.at, type.len);
        if (!field.name || !field.type)
                return rootfile_fail_arena(reader->file, error);
        if (buf_append(&reader->fields, &field, sizeof(field)) < 0)
                return roast_fail_nomem(error);
        return 0;
}

static int schema_column_read(struct ntuple_reader *reader, struct cursor *outer,
                              struct roast_error *error)
{
        struct cursor record = frame_record(outer);
        struct roast_root_column column = { 0 };

        column.type = frame_u16(&record);
        column.bits = frame_u16(&record);
        column.field = cursor_u32(&record);
        column.deferred = frame_u16(&record) & COLUMN_DEFERRED;
        column.representation = frame_u16(&record);
        if (record.bad)
                return roast_fail(error, ROAST_E_CORRUPT, "a column is damaged");
        if (buf_append(&reader->columns, &column, sizeof(column)) < 0)
                return roast_fail_nomem(error);
        return 0;
}

static int schema_alias_read(struct ntuple_reader *reader, struct cursor *outer,
                             struct roast_error *error)
{
        struct cursor record = frame_record(outer);
        struct alias alias = { .column = cursor_u32(&record) };

        alias.field = cursor_u32(&record);
        if (record.bad)
                return roast_fail(error, ROAST_E_CORRUPT, "an alias column is damaged");
        if (buf_append(&reader->aliases, &alias, sizeof(alias)) < 0)
                return roast_fail_nomem(error);
        return 0;
}

/* A list whose items one of the functions above reads. */
static int schema_list_read(struct ntuple_reader *reader, struct cursor *cursor,
                            int (*item)(struct ntuple_reader *, struct cursor *,
                                        struct roast_error *),
                            struct roast_error *error)
{
        size_t n;
        struct cursor list = frame_list(cursor, &n);
        int r;

        for (size_t i = 0; i < n; i++) {
                r = item(reader, &list, error);
                if (r < 0)
                        return r;
        }
        return 0;
}

int schema_read(struct ntuple_reader *reader, struct cursor *cursor, struct roast_error *error)
{
        int r;

        r = schema_list_read(reader, cursor, schema_field_read, error);
        if (r < 0)
                return r;
        r = schema_list_read(reader, cursor, schema_column_read, error);
        if (r < 0)
                return r;
        r = schema_list_read(reader, cursor, schema_alias_read, error);
        if (r < 0)
                return r;
        frame_skip(cursor); /* extra types */
        if (cursor->bad)
                return roast_fail(error, ROAST_E_CORRUPT, "its schema is damaged");
        return 0;
}

static int schema_fields_finish(struct ntuple_reader *reader, struct roast_root_field *fields,
                                size_t n, struct roast_error *error)
{
        for (size_t i = 0; i < n; i++) {
                struct roast_root_field *field = &fields[i];

                if (field->parent > i)
                        return roast_fail(error, ROAST_E_CORRUPT, "field %zu has no parent", i);
                if (field->parent == i) {
                        field->path = field->name;
                        reader->ntuple->num_top_fields++;
                        continue;
                }
                field->path = arena_join(&reader->file->arena, fields[field->parent].path, '.',
                                         field->name, strlen(field->name));
                if (!field->path)
                        return rootfile_fail_arena(reader->file, error);
        }
        return 0;
}

static int schema_columns_count(struct ntuple_reader *reader, struct roast_root_field *fields,
                                const struct alias *aliases, struct roast_error *error)
{
        const struct roast_root_ntuple *ntuple = reader->ntuple;

        for (size_t i = 0; i < ntuple->num_columns; i++) {
                if (ntuple->columns[i].field >= ntuple->num_fields)
                        return roast_fail(error, ROAST_E_CORRUPT, "column %zu has no field", i);
                fields[ntuple->columns[i].field].num_columns++;
        }
        for (size_t i = 0; i < ntuple->num_alias_columns; i++) {
                if (aliases[i].field >= ntuple->num_fields ||
                    aliases[i].column >= ntuple->num_columns)
                        return roast_fail(error, ROAST_E_CORRUPT, "an alias column has no field");
                fields[aliases[i].field].num_aliases++;
        }
        return 0;
}

/* One array of column numbers, grouped by field, that the fields point into. */
static int schema_columns_assign(struct ntuple_reader *reader, struct roast_root_field *fields,
                                 struct roast_error *error)
{
        const struct roast_root_ntuple *ntuple = reader->ntuple;
        const struct alias *aliases = (const void *)reader->aliases.data;
        uint32_t *numbers =
                arena_take(&reader->file->arena, ntuple->num_columns + ntuple->num_alias_columns,
                           sizeof(*numbers));
        int r;

        if (!numbers)
                return rootfile_fail_arena(reader->file, error);
        r = schema_columns_count(reader, fields, aliases, error);
        if (r < 0)
                return r;
        for (size_t i = 0; i < ntuple->num_fields; i++) {
                fields[i].columns = numbers;
                numbers += fields[i].num_columns + fields[i].num_aliases;
                fields[i].num_columns = fields[i].num_aliases = 0;
        }
        for (size_t i = 0; i < ntuple->num_columns; i++) {
                struct roast_root_field *field = &fields[ntuple->columns[i].field];

                ((uint32_t *)field->columns)[field->num_columns++] = (uint32_t)i;
        }
        for (size_t i = 0; i < ntuple->num_alias_columns; i++) {
                struct roast_root_field *field = &fields[aliases[i].field];
                uint32_t *own = (uint32_t *)field->columns;

                own[field->num_columns + field->num_aliases++] = aliases[i].column;
        }
        return 0;
}

int schema_finish(struct ntuple_reader *reader, struct roast_error *error)
{
        struct arena *arena = &reader->file->arena;
        struct roast_root_ntuple *ntuple = reader->ntuple;
        struct roast_root_field *fields =
                arena_copy(arena, reader->fields.data, reader->fields.len);
        int r;

        ntuple->columns = arena_copy(arena, reader->columns.data, reader->columns.len);
        if (!fields || !ntuple->columns)
                return rootfile_fail_arena(reader->file, error);
        ntuple->fields = fields;
        ntuple->num_fields = reader->fields.len / sizeof(*fields);
        ntuple->num_columns = reader->columns.len / sizeof(*ntuple->columns);
        ntuple->num_alias_columns = reader->aliases.len / sizeof(struct alias);
        r = schema_fields_finish(reader, fields, ntuple->num_fields, error);
        return r < 0 ? r : schema_columns_assign(reader, fields, error);
}
