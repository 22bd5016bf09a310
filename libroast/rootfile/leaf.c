/* TLeaf: what a plain branch holds. */

#include <stdio.h>
#include <string.h>

#include "rootfile/tree.h"
#include "util/size.h"

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

#define TYPE_BYTES 64

/* Appends the fixed sizes of a title like "x[n][5][2]", as far as they fit. */
static void leaf_put_sizes(char *type, struct text title)
{
        size_t len = strlen(type);

        for (size_t i = 0; i < title.len; i++) {
                size_t end = i + 1;

                if (title.at[i] != '[')
                        continue;
                while (end < title.len && title.at[end] >= '0' && title.at[end] <= '9')
                        end++;
                if (end == i + 1 || end == title.len || title.at[end] != ']' ||
                    end + 1 - i >= TYPE_BYTES - len)
                        continue;
                memcpy(type + len, title.at + i, end + 1 - i);
                len += end + 1 - i;
                type[len] = '\0';
        }
}

/* "float", "float[]" with a counter, "float[3]", "float[][5][2]" */
static const char *leaf_type_with_sizes(struct tree_reader *reader, const char *type, bool counted,
                                        int32_t len, struct text title)
{
        char text[TYPE_BYTES];
        size_t plain;

        plain = (size_t)snprintf(text, sizeof(text), "%s%s", type, counted ? "[]" : "");
        leaf_put_sizes(text, title);
        if (!text[plain] && len > 1)
                snprintf(text + plain, sizeof(text) - plain, "[%d]", len);
        return arena_text(&reader->file->arena, text, strlen(text));
}

const char *leaf_type(struct tree_reader *reader, const struct wire_pointer *leaf)
{
        struct cursor cursor = leaf->object, members;
        bool is_unsigned, counted;
        struct text title;
        uint16_t version;
        int32_t len;

        if (text_is(leaf->class_name, "TLeafC"))
                return "char*";
        members = wire_enter(&cursor, &version);
        members = wire_enter(&members, &version); /* its TLeaf */
        title = wire_tnamed(&members).title;
        len = wire_i32(&members);
        cursor_take(&members, 4 + 4 + 1); /* size of the type, offset, whether it has a range */
        is_unsigned = cursor_u8(&members);
        counted = wire_pointer(&members, reader->body).class_name.len > 0;
        if (members.bad)
                return NULL;
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(types); i++)
                if (text_is(leaf->class_name, types[i].class_name))
                        return leaf_type_with_sizes(
                                reader, is_unsigned ? types[i].is_unsigned : types[i].is_signed,
                                counted, len, title);
        return NULL;
}
