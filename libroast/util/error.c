/* The error object: see roast-error.h for the rule. */

#include <stdarg.h>
#include <stdio.h>

#include "roast-error.h"

int roast_fail(struct roast_error *error, int code, const char *format, ...)
{
        va_list args;

        if (error) {
                error->code = code;
                va_start(args, format);
                vsnprintf(error->message, sizeof(error->message), format, args);
                va_end(args);
        }
        return code;
}

int roast_fail_nomem(struct roast_error *error)
{
        return roast_fail(error, ROAST_E_NOMEM, "out of memory");
}
