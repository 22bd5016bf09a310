/* TLeaf: what a plain branch holds. */

#include <stdio.h>

#include "rootfile/tree.h"

static const struct {
        const char *class_name;
        const char *is_signed;
        const char *is_unsigned;
} types[] = {
        { "TLeafO", "bool", "bool" },
        { "TLeafB", "int8", "uint8" },
        { "TLeafS", "int16", "uint16" },
        { "TLeafI", "int32", "uint32" },
        { "TLeafL", "int64", "uint64" },
        { "TLeafG", "int64", "uint64" },
        { "TLeafF", "float", "float" },
        { "TLeafD", "double", "double" },
        { "TLeafF16", "Float16_t", "Float16_t" },
        { "TLeafD32", "Double32_t", "Double32_t" },
};

/* "float", "float[]" with a counter, "float[3]", "float[][3]" */
static const char *type_with_size(struct tree_reader *reader, const char *type, bool counted,
                                  int32_t len)
{
        char text[48];
        int n = snprintf(text, sizeof(text), "%s%s", type, counted ? "[]" : "");

        if (len > 1)
                n += snprintf(text + n, sizeof(text) - (size_t)n, "[%d]", len);
        return arena_text(&reader->file->arena, text, (size_t)n);
}

const char *leaf_type(struct tree_reader *reader, const struct wire_pointer *leaf)
{
        struct cursor cursor = leaf->object, members;
        bool is_unsigned, counted;
        uint16_t version;
        int32_t len;

        if (text_is(leaf->class_name, "TLeafC"))
                return "char*";
        members = wire_enter(&cursor, &version);
        members = wire_enter(&members, &version); /* its TLeaf */
        wire_tnamed(&members);
        len = wire_i32(&members);
        cursor_take(&members, 4 + 4 + 1); /* size of the type, offset, whether it has a range */
        is_unsigned = cursor_u8(&members);
        counted = wire_pointer(&members, reader->body).class_name.len > 0;
        if (members.bad)
                return NULL;
        for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
                if (text_is(leaf->class_name, types[i].class_name))
                        return type_with_size(
                                reader, is_unsigned ? types[i].is_unsigned : types[i].is_signed,
                                counted, len);
        return NULL;
}
