#pragma once
/*
 * Runs over HTTP: the report page, a JSON interface, OpenMetrics
 *
 * A run may still be growing: pages that watch it are told when it has. Only
 * what a run holds can be asked for: names in requests are looked up among the
 * runs that were found, and never become paths.
 */

#include <stddef.h>

#include "roast-error.h"

struct roast_server;

struct roast_serve_options {
        const char *path;    /* a run, or a directory of runs */
        const char *address; /* numeric; NULL: 127.0.0.1 */
        unsigned int port;   /* 0: any that is free */
        const char *token;   /* wanted of every request; NULL: none is */
        const char *const
                *hosts; /* further names under which the server may be asked for; or NULL */
        size_t n_hosts;
};

/*
 * Listens, and answers in threads of its own. ROAST_E_INVALID: an address other than loopback
 * without a token; ROAST_E_IO: it cannot listen there.
 */
int roast_server_start(struct roast_server **ret, const struct roast_serve_options *options,
                       struct roast_error *error);
/* The port it listens on. */
unsigned int roast_server_port(const struct roast_server *server);
/* Ends every connection. NULL is allowed. */
void roast_server_stop(struct roast_server *server);
