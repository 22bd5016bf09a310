/*
 * How long a connection may take
 *
 * The library ends connections on which nothing happens. One on which a byte
 * comes, or is taken, now and then would live for ever, and hold a place and an
 * answer: there is a limit of time for the head of a request and one for taking
 * the answer. Streams of events have none.
 */

#include <stdlib.h>
#include <sys/socket.h>

#include "serve/server.h"
#include "util/clock.h"

#define NEVER INT64_MAX

struct guest {
        MHD_socket fd;
        int64_t deadline_ns;
        struct guest *next, **at;
};

/* No limit where the clock cannot be read, rather than one that has passed. */
static int64_t guests_in_seconds(unsigned int seconds)
{
        int64_t now_ns = clock_monotonic_ns();

        return now_ns < 0 ? NEVER : now_ns + (int64_t)seconds * 1000000000;
}

static struct guest *guests_find(struct MHD_Connection *connection)
{
        const union MHD_ConnectionInfo *info =
                MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

        return info ? info->socket_context : NULL;
}

static void guests_welcome(struct roast_server *server, struct MHD_Connection *connection,
                           void **context)
{
        const union MHD_ConnectionInfo *info =
                MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        struct guest *guest = info ? malloc(sizeof(*guest)) : NULL;

        *context = guest;
        if (!guest)
                return; /* it has no limit of its own then */
        guest->fd = info->connect_fd;
        guest->deadline_ns = guests_in_seconds(SERVER_HEAD_S);
        guest->next = server->guests;
        guest->at = &server->guests;
        if (guest->next)
                guest->next->at = &guest->next;
        server->guests = guest;
}

void guests_notify(void *context, struct MHD_Connection *connection, void **own,
                   enum MHD_ConnectionNotificationCode code)
{
        struct roast_server *server = context;
        struct guest *guest = *own;

        pthread_mutex_lock(&server->lock);
        if (code == MHD_CONNECTION_NOTIFY_STARTED) {
                guests_welcome(server, connection, own);
        } else if (guest) {
                *guest->at = guest->next;
                if (guest->next)
                        guest->next->at = guest->at;
                free(guest);
                *own = NULL;
        }
        pthread_mutex_unlock(&server->lock);
}

void guests_expect(struct roast_server *server, struct MHD_Connection *connection,
                   unsigned int seconds)
{
        struct guest *guest = guests_find(connection);

        if (!guest)
                return;
        pthread_mutex_lock(&server->lock);
        guest->deadline_ns = seconds ? guests_in_seconds(seconds) : NEVER;
        pthread_mutex_unlock(&server->lock);
}

/* The library notices, and closes what is left. */
void guests_tick(struct roast_server *server)
{
        int64_t now = clock_monotonic_ns();

        for (struct guest *guest = server->guests; guest; guest = guest->next)
                if (guest->deadline_ns < now) {
                        guest->deadline_ns = NEVER;
                        (void)shutdown(guest->fd, SHUT_RDWR);
                }
}
