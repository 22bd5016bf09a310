#pragma once
/* What the files of the server share */

#include <microhttpd.h>
#include <pthread.h>

#include "roast-serve.h"
#include "serve/catalog.h"

/* Limits of what clients may take */
#define SERVER_CONNECTIONS_MAX 1000
#define SERVER_REQUEST_BYTES   (32 * 1024) /* the head of a request, and what answering it takes */
#define SERVER_IDLE_S          30

struct watcher;

struct roast_server {
        struct MHD_Daemon *daemon;
        struct catalog catalog;
        char *path;
        char *token;
        char **hosts; /* under which it may be asked for, beside the loopback's names */
        size_t n_hosts;
        unsigned int port;

        pthread_t ticker;
        bool ticks; /* the ticker runs */
        pthread_mutex_t lock;
        pthread_cond_t wake;
        bool closing;
        struct watcher *watchers;
};

/* access.c: whether a request may be answered: an HTTP status, 0 if it may */
unsigned int access_check(const struct roast_server *server, struct MHD_Connection *connection);

/* routes.c */
enum MHD_Result routes_answer(struct roast_server *server, struct MHD_Connection *connection,
                              const char *path);

/* watch.c: a stream of server-sent events that says when a run has changed */
struct MHD_Response *watch_response(struct roast_server *server, struct MHD_Connection *connection,
                                    struct served *served);
int watch_start(struct roast_server *server);
void watch_stop(struct roast_server *server);
