#pragma once
/*
 * The one error rule of libroast
 *
 * A function that can fail returns an int: 0 or a positive count for success, a
 * negative ROAST_E_* for a condition that the caller can handle. It writes one
 * sentence for people into the error object, if the caller passed one. The
 * library prints nothing and never exits.
 */

enum roast_errc {
        ROAST_E_NOMEM = -1,   /* memory is exhausted */
        ROAST_E_IO = -2,      /* the system refused a read, a write or a sync */
        ROAST_E_NOENT = -3,   /* no such file, table, metric or tree */
        ROAST_E_FORMAT = -4,  /* the input is something else than was asked for */
        ROAST_E_CORRUPT = -5, /* the input is of the right kind, but damaged */
        ROAST_E_VERSION = -6, /* the input was written by a newer major version */
        ROAST_E_INVALID = -7, /* an argument is out of its range */
        ROAST_E_STATE = -8,   /* the call does not fit the state of the object */
};

struct roast_error {
        int code;
        char message[480];
};

/* Fills the error object (NULL is allowed) and returns its code, for `return roast_fail(...)`. */
int roast_fail(struct roast_error *error, int code, const char *format, ...)
        __attribute__((format(printf, 3, 4)));

/* The common case: allocation failed. */
int roast_fail_nomem(struct roast_error *error);
