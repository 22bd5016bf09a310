/*
 * Server-sent events: "this run has changed"
 *
 * A connection that has nothing to say is suspended. The ticker looks at the
 * watched runs once a second and wakes those whose run has changed, and all
 * from time to time, so that a client that has gone is noticed.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "serve/server.h"

#define TICK_S       1
#define KEEP_ALIVE_S 15

struct watcher {
        struct roast_server *server;
        struct MHD_Connection *connection;
        struct served *served;
        struct watcher *next;
        uint64_t told;      /* the version that was told last */
        uint64_t known;     /* the version that holds */
        unsigned int quiet; /* ticks since something was sent */
        bool suspended;
        size_t at, len; /* of what is being sent */
        char text[96];
};

/* With the lock held: what is to be sent next, if anything */
static void watch_compose_events(struct watcher *watcher)
{
        int n = 0;

        if (watcher->known != watcher->told)
                n = snprintf(watcher->text, sizeof(watcher->text),
                             "event: change\nid: %" PRIu64 "\ndata: {\"version\": %" PRIu64 "}\n\n",
                             watcher->known, watcher->known);
        else if (watcher->quiet * TICK_S >= KEEP_ALIVE_S)
                n = snprintf(watcher->text, sizeof(watcher->text), ":\n\n");
        if (n <= 0)
                return;
        watcher->told = watcher->known;
        watcher->quiet = 0;
        watcher->at = 0;
        watcher->len = (size_t)n;
}

static ssize_t watch_read_events(void *context, uint64_t pos, char *out, size_t max)
{
        struct watcher *watcher = context;
        struct roast_server *server = watcher->server;
        size_t n;

        (void)pos;
        pthread_mutex_lock(&server->lock);
        if (server->closing) {
                pthread_mutex_unlock(&server->lock);
                return MHD_CONTENT_READER_END_OF_STREAM;
        }
        if (watcher->at == watcher->len)
                watch_compose_events(watcher);
        n = watcher->len - watcher->at;
        if (n > max)
                n = max;
        memcpy(out, watcher->text + watcher->at, n);
        watcher->at += n;
        if (n == 0 && !watcher->suspended) {
                watcher->suspended = true;
                MHD_suspend_connection(watcher->connection);
        }
        pthread_mutex_unlock(&server->lock);
        return (ssize_t)n;
}

static void watch_forget(void *context)
{
        struct watcher *watcher = context, **at = &watcher->server->watchers;

        pthread_mutex_lock(&watcher->server->lock);
        while (*at && *at != watcher)
                at = &(*at)->next;
        if (*at)
                *at = watcher->next;
        pthread_mutex_unlock(&watcher->server->lock);
        free(watcher);
}

struct MHD_Response *watch_response(struct roast_server *server, struct MHD_Connection *connection,
                                    struct served *served)
{
        struct watcher *watcher = calloc(1, sizeof(*watcher));
        struct MHD_Response *response;

        if (!watcher)
                return NULL;
        watcher->server = server;
        watcher->connection = connection;
        watcher->served = served;
        watcher->known = served_version(served);
        response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, sizeof(watcher->text),
                                                     watch_read_events, watcher, watch_forget);
        if (!response) {
                free(watcher);
                return NULL;
        }
        pthread_mutex_lock(&server->lock);
        watcher->next = server->watchers;
        server->watchers = watcher;
        pthread_mutex_unlock(&server->lock);
        return response;
}

/* With the lock held */
static void watch_tick_server(struct roast_server *server)
{
        guests_tick(server);
        for (struct watcher *watcher = server->watchers; watcher; watcher = watcher->next) {
                uint64_t version = served_version(watcher->served);

                if (version)
                        watcher->known = version;
                watcher->quiet++;
                if (watcher->suspended && (server->closing || watcher->known != watcher->told ||
                                           watcher->quiet * TICK_S >= KEEP_ALIVE_S)) {
                        watcher->suspended = false;
                        MHD_resume_connection(watcher->connection);
                }
        }
}

static void *watch_run_ticker(void *context)
{
        struct roast_server *server = context;
        struct timespec next = server->started;

        pthread_mutex_lock(&server->lock);
        while (!server->closing) {
                next.tv_sec += TICK_S;
                while (!server->closing &&
                       pthread_cond_timedwait(&server->wake, &server->lock, &next) == 0)
                        ;
                watch_tick_server(server);
        }
        pthread_mutex_unlock(&server->lock);
        return NULL;
}

int watch_start(struct roast_server *server, struct roast_error *error)
{
        pthread_condattr_t attributes;

        if (clock_gettime(CLOCK_MONOTONIC, &server->started) < 0)
                return roast_fail(error, ROAST_E_IO, "the clock cannot be read: %s",
                                  strerror(errno));
        pthread_mutex_init(&server->lock, NULL);
        pthread_condattr_init(&attributes);
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
        pthread_cond_init(&server->wake, &attributes);
        pthread_condattr_destroy(&attributes);
        server->ticks = pthread_create(&server->ticker, NULL, watch_run_ticker, server) == 0;
        return server->ticks ? 0 : roast_fail(error, ROAST_E_IO, "no more threads");
}

void watch_stop(struct roast_server *server)
{
        pthread_mutex_lock(&server->lock);
        server->closing = true;
        pthread_cond_broadcast(&server->wake);
        pthread_mutex_unlock(&server->lock);
        if (server->ticks)
                pthread_join(server->ticker, NULL);
}
