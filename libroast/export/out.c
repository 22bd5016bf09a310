/* Where an export goes: see export.h. */

#include <string.h>

#include "export/export.h"

/* So much comes together before it is handed over. */
#define PIECE (1u << 16)

void out_init(struct out *out, roast_export_writer write, void *context)
{
        *out = (struct out){ .write = write, .context = context };
        out->json = (struct json){ .out = &out->buf, .compact = true };
}

void out_deinit(struct out *out)
{
        buf_deinit(&out->buf);
}

int out_end(struct out *out, struct roast_error *error)
{
        int r;

        if (out->json.error == ROAST_E_INVALID)
                return roast_fail(error, ROAST_E_CORRUPT, "a value is nested too deeply");
        if (out->json.error < 0)
                return roast_fail_nomem(error);
        if (out->buf.len == 0)
                return 0;
        r = out->write(out->buf.data, out->buf.len, out->context, error);
        buf_clear(&out->buf);
        return r;
}

int out_step(struct out *out, struct roast_error *error)
{
        return out->buf.len >= PIECE || out->json.error < 0 ? out_end(out, error) : 0;
}

void out_puts(struct out *out, const char *text)
{
        if (out->json.error >= 0)
                out->json.error = buf_append(&out->buf, text, strlen(text));
}
