#pragma once
/* The options of `roast serve`, which is a program of its own, roast-serve */

#include "roast-serve.h"
#include "verb.h"

struct serve_request {
        struct roast_serve_options options;
        const char *token_file; /* NULL: none */
        bool until_eof;
};

extern struct serve_request serve_request;
