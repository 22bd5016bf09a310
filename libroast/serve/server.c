/* The server's life: see roast-serve.h. */

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "serve/server.h"
#include "util/cleanup.h"

#define THREADS 4

static enum MHD_Result server_answer(void *context, struct MHD_Connection *connection,
                                     const char *url, const char *method, const char *version,
                                     const char *upload, size_t *upload_size, void **state)
{
        static int begun;
        struct roast_server *server = context;
        bool read = !strcmp(method, MHD_HTTP_METHOD_GET) || !strcmp(method, MHD_HTTP_METHOD_HEAD);

        (void)version;
        (void)upload;
        if (!*state) { /* the head has come: a body may follow, which nobody reads */
                *state = &begun;
                guests_expect(server, connection, SERVER_ANSWER_S);
                return read ? MHD_YES : routes_answer(server, connection, NULL);
        }
        if (*upload_size)
                return MHD_NO;
        return routes_answer(server, connection, url);
}

/* Another request may follow on the same connection. */
static void server_completed(void *context, struct MHD_Connection *connection, void **state,
                             enum MHD_RequestTerminationCode code)
{
        (void)state;
        (void)code;
        guests_expect(context, connection, SERVER_HEAD_S);
}

union address {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
};

/* Whether only this host can reach the address */
static bool server_is_loopback(const union address *address)
{
        if (address->any.sa_family == AF_INET)
                return ntohl(address->v4.sin_addr.s_addr) >> 24 == 127;
        return IN6_IS_ADDR_LOOPBACK(&address->v6.sin6_addr);
}

static const char *server_address_text(const struct roast_serve_options *options)
{
        return options->address ? options->address : "127.0.0.1";
}

static int server_read_address(union address *address, const struct roast_serve_options *options,
                               struct roast_error *error)
{
        const char *text = server_address_text(options);

        *address = (union address){ 0 };
        if (options->port > 65535)
                return roast_fail(error, ROAST_E_INVALID, "%u is no port", options->port);
        if (inet_pton(AF_INET, text, &address->v4.sin_addr) == 1) {
                address->v4.sin_family = AF_INET;
                address->v4.sin_port = htons((uint16_t)options->port);
        } else if (inet_pton(AF_INET6, text, &address->v6.sin6_addr) == 1) {
                address->v6.sin6_family = AF_INET6;
                address->v6.sin6_port = htons((uint16_t)options->port);
        } else {
                return roast_fail(error, ROAST_E_INVALID, "%s: is no numeric address", text);
        }
        if (!server_is_loopback(address) && (!options->token || !*options->token))
                return roast_fail(error, ROAST_E_INVALID,
                                  "%s: others can reach this address: it needs a token", text);
        return 0;
}

static int server_copy_options(struct roast_server *server,
                               const struct roast_serve_options *options)
{
        server->path = strdup(options->path);
        server->token = options->token ? strdup(options->token) : NULL;
        server->hosts = calloc(options->n_hosts + 1, sizeof(*server->hosts));
        if (!server->path || (options->token && !server->token) || !server->hosts)
                return ROAST_E_NOMEM;
        for (size_t i = 0; i < options->n_hosts; i++) {
                server->hosts[i] = strdup(options->hosts[i]);
                if (!server->hosts[i])
                        return ROAST_E_NOMEM;
                server->n_hosts++;
        }
        if (options->address) { /* the address itself is one of its names */
                if (asprintf(&server->hosts[server->n_hosts],
                             strchr(options->address, ':') ? "[%s]" : "%s", options->address) < 0)
                        return ROAST_E_NOMEM;
                server->n_hosts++;
        }
        return 0;
}

static int server_listen_at(struct roast_server *server, const union address *address,
                            const struct roast_serve_options *options, struct roast_error *error)
{
        unsigned int flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME |
                             (address->any.sa_family == AF_INET6 ? MHD_USE_IPv6 : 0);
        const union MHD_DaemonInfo *info;

        server->daemon = MHD_start_daemon(
                flags, (uint16_t)0, NULL, NULL, server_answer, server, MHD_OPTION_SOCK_ADDR,
                &address->any, MHD_OPTION_THREAD_POOL_SIZE, (unsigned int)THREADS,
                MHD_OPTION_CONNECTION_LIMIT, (unsigned int)SERVER_CONNECTIONS_MAX,
                MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)SERVER_REQUEST_BYTES,
                MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)SERVER_IDLE_S,
                MHD_OPTION_NOTIFY_CONNECTION, guests_notify, server, MHD_OPTION_NOTIFY_COMPLETED,
                server_completed, server, MHD_OPTION_END);
        if (!server->daemon)
                return roast_fail(error, ROAST_E_IO, "cannot listen at %s, port %u: %s",
                                  server_address_text(options), options->port, strerror(errno));
        info = MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_BIND_PORT);
        server->port = info ? info->port : 0;
        return 0;
}

int roast_server_start(struct roast_server **ret, const struct roast_serve_options *options,
                       struct roast_error *error)
{
        struct roast_server *server;
        union address address;
        int r = server_read_address(&address, options, error);

        if (r < 0)
                return r;
        server = calloc(1, sizeof(*server));
        if (!server || server_copy_options(server, options) < 0) {
                r = roast_fail_nomem(error);
                goto fail;
        }
        r = catalog_init(&server->catalog, server->path, error);
        if (r < 0)
                goto fail;
        r = watch_start(server, error);
        if (r < 0)
                goto fail;
        r = server_listen_at(server, &address, options, error);
        if (r < 0)
                goto fail;
        *ret = server;
        return 0;
fail:
        roast_server_stop(server);
        return r;
}

unsigned int roast_server_port(const struct roast_server *server)
{
        return server->port;
}

void roast_server_stop(struct roast_server *server)
{
        if (!server)
                return;
        if (server->ticks)
                watch_stop(server);
        if (server->daemon)
                MHD_stop_daemon(server->daemon);
        catalog_deinit(&server->catalog);
        for (size_t i = 0; i < server->n_hosts; i++)
                free(server->hosts[i]);
        free(server->hosts);
        free(server->path);
        free(server->token);
        free(server);
}
