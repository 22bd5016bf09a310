/* Plain values as CBOR: see cbor-source.h. */

#include "record/cbor-source.h"
#include "util/cbor.h"
#include "util/cleanup.h"

/* The parts first, for their number stands before them */
static bool cbor_put_container(struct buf *out, struct source *in, bool is_map)
{
        ROAST_CLEANUP(buf_deinit) struct buf parts = BUF_INIT;
        struct json_text key;
        size_t n = 0;

        if (!source_enter(in))
                return false;
        while (is_map ? source_key(in) : source_element(in)) {
                if (is_map &&
                    (!source_key_text(in, &key) || cbor_put_text(&parts, key.data, key.len) < 0))
                        return source_nomem(in);
                if (!cbor_of_source(&parts, in))
                        return false;
                n++;
        }
        if (in->bad)
                return false;
        if (cbor_put(out, is_map ? CBOR_MAP : CBOR_ARRAY, n) < 0 ||
            buf_append(out, parts.data, parts.len) < 0)
                return source_nomem(in);
        return true;
}

static int cbor_put_number(struct buf *out, const struct json_number *number)
{
        return number->whole ? cbor_put_int(out, number->integer)
                             : cbor_put_real(out, number->real);
}

static bool cbor_put_scalar(struct buf *out, struct source *in, enum json_type type)
{
        struct json_number number;
        struct json_text text;
        bool truth;
        int r;

        switch (type) {
        case JSON_STRING:
                if (!source_text(in, &text))
                        return false;
                r = cbor_put_text(out, text.data, text.len);
                break;
        case JSON_NUMBER:
                if (!source_number(in, &number))
                        return false;
                r = cbor_put_number(out, &number);
                break;
        case JSON_BOOL:
                if (!source_boolean(in, &truth))
                        return false;
                r = cbor_put(out, CBOR_SIMPLE, truth ? CBOR_TRUE : CBOR_FALSE);
                break;
        default:
                if (!source_skip(in))
                        return false;
                r = cbor_put(out, CBOR_SIMPLE, CBOR_NULL);
                break;
        }
        return r == 0 || source_nomem(in);
}

bool cbor_of_source(struct buf *out, struct source *in)
{
        enum json_type type;

        if (in->ops->cbor)
                return in->ops->cbor(in, out);
        type = source_type(in);
        if (type == JSON_OBJECT || type == JSON_ARRAY)
                return cbor_put_container(out, in, type == JSON_OBJECT);
        return cbor_put_scalar(out, in, type);
}
