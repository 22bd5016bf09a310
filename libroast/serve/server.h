#pragma once
/* What the files of the server share */

#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "roast-serve.h"
#include "serve/catalog.h"

/* Limits of what clients may take */
#define SERVER_CONNECTIONS_MAX 1000
#define SERVER_REQUEST_BYTES   (32 * 1024) /* the head of a request, and what answering it takes */
#define SERVER_IDLE_S          30
#define SERVER_HEAD_S          30                  /* until the head of a request has come */
#define SERVER_ANSWER_S        600                 /* until the answer has been taken */
#define SERVER_ANSWERS_BYTES   ((size_t)256 << 20) /* answers of their own that wait to be taken */

struct guest;
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
        bool ticks;              /* the ticker runs */
        struct timespec started; /* by the monotonic clock: the ticks count from here */
        pthread_mutex_t lock;
        pthread_cond_t wake;
        bool closing;
        struct watcher *watchers;
        struct guest *guests;

        atomic_size_t answers_bytes;
};

/* access.c: whether a request may be answered: an HTTP status, 0 if it may */
unsigned int access_check(const struct roast_server *server, struct MHD_Connection *connection);

/* guests.c: connections, and how long they may take; guests_tick() with the lock held */
void guests_notify(void *context, struct MHD_Connection *connection, void **own,
                   enum MHD_ConnectionNotificationCode code);
/* What is under way now is over within so many seconds; 0: it may last. */
void guests_expect(struct roast_server *server, struct MHD_Connection *connection,
                   unsigned int seconds);
void guests_tick(struct roast_server *server);

/* routes.c */
enum MHD_Result routes_answer(struct roast_server *server, struct MHD_Connection *connection,
                              const char *path);

/* watch.c: a stream of server-sent events that says when a run has changed */
struct MHD_Response *watch_response(struct roast_server *server, struct MHD_Connection *connection,
                                    struct served *served);
int watch_start(struct roast_server *server, struct roast_error *error);
void watch_stop(struct roast_server *server);
