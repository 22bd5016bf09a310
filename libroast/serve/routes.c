/*
 * What can be asked for
 *
 *   /                          the page of the run, or the list of the runs
 *   /runs/ID/                  the page of a run; data and events are beside it
 *   /api/v1/runs               the runs
 *   /api/v1/runs/ID/metrics    all metrics, as `roast show --format json` has them
 *   /api/v1/runs/ID/chunks     attempts at chunks: ?dataset=NAME&cursor=N&limit=N
 *   /api/v1/runs/ID/series     samples of the workers
 *   /metrics                   OpenMetrics, of the run that was written to last: ?run=ID
 *   /healthz                   "ok"
 */

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/report.h"
#include "roast-export.h"
#include "roast-run.h"
#include "roast-units.h"
#include "serve/list.h"
#include "serve/server.h"
#include "util/cleanup.h"
#include "util/size.h"

#define CHUNKS_LIMIT     1000
#define CHUNKS_LIMIT_MAX 10000

struct request {
        struct roast_server *server;
        struct MHD_Connection *connection;
        struct served *served; /* the run it is about, or NULL */
};

static const char json_type[] = "application/json";

static enum MHD_Result routes_reply(const struct request *request, unsigned int status,
                                    const char *type, struct MHD_Response *response)
{
        enum MHD_Result result;

        if (!response)
                return MHD_NO;
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
        MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-cache");
        MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
        MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
        MHD_add_response_header(response, "X-Frame-Options", "DENY");
        if (status == MHD_HTTP_UNAUTHORIZED)
                MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE,
                                        "Basic realm=\"roast\", charset=\"UTF-8\"");
        if (status == MHD_HTTP_SERVICE_UNAVAILABLE)
                MHD_add_response_header(response, MHD_HTTP_HEADER_RETRY_AFTER, "5");
        if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
                MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
        result = MHD_queue_response(request->connection, status, response);
        MHD_destroy_response(response);
        return result;
}

static enum MHD_Result routes_reply_text(const struct request *request, unsigned int status,
                                         const char *text)
{
        return routes_reply(request, status, "text/plain; charset=utf-8",
                            MHD_create_response_from_buffer(strlen(text), (void *)(uintptr_t)text,
                                                            MHD_RESPMEM_MUST_COPY));
}

/* A run that is not there any more was deleted while it was asked for. */
static enum MHD_Result routes_reply_error(const struct request *request,
                                          const struct roast_error *error)
{
        return routes_reply_text(request,
                                 error->code == ROAST_E_INVALID ? MHD_HTTP_BAD_REQUEST
                                 : error->code == ROAST_E_NOENT ? MHD_HTTP_NOT_FOUND
                                                                : MHD_HTTP_INTERNAL_SERVER_ERROR,
                                 error->message);
}

/* An answer that was made for one client, until it has been taken */
struct answer {
        struct roast_server *server;
        struct buf bytes;
};

static void routes_answer_free(void *context)
{
        struct answer *answer = context;

        atomic_fetch_sub(&answer->server->answers_bytes, answer->bytes.len);
        buf_deinit(&answer->bytes);
        free(answer);
}

/* Takes what the buffer holds. */
static enum MHD_Result routes_reply_buf(const struct request *request, const char *type,
                                        struct buf *buf)
{
        struct answer *answer = malloc(sizeof(*answer));
        struct MHD_Response *response;

        if (!answer)
                return MHD_NO;
        *answer = (struct answer){ request->server, *buf };
        *buf = (struct buf)BUF_INIT;
        atomic_fetch_add(&request->server->answers_bytes, answer->bytes.len);
        response = MHD_create_response_from_buffer_with_free_callback_cls(
                answer->bytes.len, answer->bytes.data, routes_answer_free, answer);
        if (!response)
                routes_answer_free(answer);
        return routes_reply(request, MHD_HTTP_OK, type, response);
}

static void routes_unref(void *bytes)
{
        served_bytes_unref(bytes);
}

/* Whether the client has what the tag, quotes included, stands for: "*", or a list of tags */
static bool routes_client_has(const struct request *request, const char *tag)
{
        const char *has = MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND,
                                                      MHD_HTTP_HEADER_IF_NONE_MATCH);

        return has && (!strcmp(has, "*") || strstr(has, tag));
}

/* A part of a run that was made before, or now; a client that has it is told so. */
static enum MHD_Result routes_reply_part(const struct request *request, enum served_part part,
                                         const char *type, const char *encoding)
{
        struct roast_error error = { 0 };
        struct MHD_Response *response;
        struct served_bytes *bytes;
        char tag[32];
        uint64_t version;

        if (served_part(request->served, part, &bytes, &version, &error) < 0)
                return routes_reply_error(request, &error);
        (void)snprintf(tag, sizeof(tag), "\"%" PRIu64 "\"", version);
        if (routes_client_has(request, tag)) {
                served_bytes_unref(bytes);
                response = MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
                return routes_reply(request, MHD_HTTP_NOT_MODIFIED, type, response);
        }
        response = MHD_create_response_from_buffer_with_free_callback_cls(bytes->len, bytes->data,
                                                                          routes_unref, bytes);
        if (!response) {
                served_bytes_unref(bytes);
                return MHD_NO;
        }
        MHD_add_response_header(response, MHD_HTTP_HEADER_ETAG, tag);
        if (encoding)
                MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_ENCODING, encoding);
        return routes_reply(request, MHD_HTTP_OK, type, response);
}

static enum MHD_Result routes_answer_metrics(const struct request *request)
{
        return routes_reply_part(request, SERVED_METRICS, json_type, NULL);
}

static enum MHD_Result routes_answer_data(const struct request *request)
{
        return routes_reply_part(request, SERVED_DATA, "application/octet-stream", "deflate");
}

static enum MHD_Result routes_answer_openmetrics(const struct request *request)
{
        return routes_reply_part(request, SERVED_OPENMETRICS,
                                 "application/openmetrics-text; version=1.0.0; charset=utf-8",
                                 NULL);
}

static enum MHD_Result routes_answer_events(const struct request *request)
{
        guests_expect(request->server, request->connection, 0);
        return routes_reply(request, MHD_HTTP_OK, "text/event-stream",
                            watch_response(request->server, request->connection, request->served));
}

static enum MHD_Result routes_answer_page(const struct request *request)
{
        ROAST_CLEANUP(buf_deinit) struct buf page = BUF_INIT;

        if (report_empty_page(&page) < 0)
                return MHD_NO;
        return routes_reply_buf(request, "text/html; charset=utf-8", &page);
}

static int routes_append(const void *data, size_t len, void *context, struct roast_error *error)
{
        return buf_append(context, data, len) < 0 ? roast_fail_nomem(error) : 0;
}

/* A whole number that is not negative, from the query; -1: it is something else */
static int64_t routes_number(const struct request *request, const char *name, int64_t otherwise)
{
        const char *text =
                MHD_lookup_connection_value(request->connection, MHD_GET_ARGUMENT_KIND, name);
        int64_t value = 0;

        if (!text)
                return otherwise;
        for (const char *at = text; *at; at++)
                if (*at < '0' || *at > '9' || at - text > 17)
                        return -1;
                else
                        value = value * 10 + (*at - '0');
        return *text ? value : -1;
}

static enum MHD_Result routes_answer_export(const struct request *request,
                                            const struct roast_export_options *options,
                                            const char *before)
{
        ROAST_CLEANUP(buf_deinit) struct buf out = BUF_INIT;
        struct roast_error error = { 0 };
        struct roast_run *run;
        int64_t next = -1;
        struct roast_export_options with_next = *options;
        int r;

        if (atomic_load(&request->server->answers_bytes) > SERVER_ANSWERS_BYTES)
                return routes_reply_text(
                        request, MHD_HTTP_SERVICE_UNAVAILABLE,
                        "others have not taken their answers yet: try again later\n");
        if (before)
                with_next.next = &next;
        r = roast_run_open_any(&run, request->served->path, &error);
        if (r < 0)
                return routes_reply_error(request, &error);
        r = before ? buf_puts(&out, before) : 0;
        if (r >= 0)
                r = roast_export(run, &with_next, routes_append, &out, &error);
        roast_run_free(run);
        if (r < 0)
                return routes_reply_error(request, &error);
        if (before && (next < 0 ? buf_puts(&out, ",\"next\":null}\n")
                                : buf_printf(&out, ",\"next\":%" PRId64 "}\n", next)) < 0)
                return MHD_NO;
        return routes_reply_buf(request, json_type, &out);
}

static enum MHD_Result routes_answer_chunks(const struct request *request)
{
        struct roast_export_options options = {
                .format = ROAST_EXPORT_JSON,
                .what = ROAST_EXPORT_CHUNKS,
                .dataset = MHD_lookup_connection_value(request->connection, MHD_GET_ARGUMENT_KIND,
                                                       "dataset"),
                .first = routes_number(request, "cursor", 0),
                .limit = routes_number(request, "limit", CHUNKS_LIMIT),
        };

        if (options.first < 0 || options.limit < 1 || options.limit > CHUNKS_LIMIT_MAX)
                return routes_reply_text(
                        request, MHD_HTTP_BAD_REQUEST,
                        "cursor is the \"next\" of an earlier answer, limit is from 1 to"
                        " 10000\n");
        return routes_answer_export(request, &options, "{\"chunks\":");
}

static enum MHD_Result routes_answer_series(const struct request *request)
{
        static const struct roast_export_options options = { .format = ROAST_EXPORT_JSON,
                                                             .what = ROAST_EXPORT_SERIES };

        return routes_answer_export(request, &options, NULL);
}

static enum MHD_Result routes_answer_runs(const struct request *request)
{
        ROAST_CLEANUP(buf_deinit) struct buf out = BUF_INIT;
        struct roast_error error = { 0 };

        if (catalog_refresh(&request->server->catalog, &error) < 0 ||
            list_json(&out, &request->server->catalog, &error) < 0)
                return routes_reply_error(request, &error);
        return routes_reply_buf(request, json_type, &out);
}

static enum MHD_Result routes_answer_root(const struct request *request)
{
        ROAST_CLEANUP(buf_deinit) struct buf out = BUF_INIT;
        struct roast_error error = { 0 };

        if (request->server->catalog.single) {
                struct MHD_Response *response =
                        MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);

                if (!response)
                        return MHD_NO;
                if (list_link(&out, request->server->catalog.first->id) < 0) {
                        MHD_destroy_response(response);
                        return MHD_NO;
                }
                MHD_add_response_header(response, MHD_HTTP_HEADER_LOCATION, (char *)out.data);
                return routes_reply(request, MHD_HTTP_FOUND, "text/plain", response);
        }
        if (catalog_refresh(&request->server->catalog, &error) < 0 ||
            list_html(&out, &request->server->catalog, &error) < 0)
                return routes_reply_error(request, &error);
        return routes_reply_buf(request, "text/html; charset=utf-8", &out);
}

static enum MHD_Result routes_answer_style(const struct request *request)
{
        return routes_reply(request, MHD_HTTP_OK, "text/css; charset=utf-8",
                            MHD_create_response_from_buffer(strlen(list_style),
                                                            (void *)(uintptr_t)list_style,
                                                            MHD_RESPMEM_PERSISTENT));
}

static enum MHD_Result routes_answer_health(const struct request *request)
{
        return routes_reply_text(request, MHD_HTTP_OK, "ok\n");
}

/* "*" stands for the id of a run. */
static const struct route {
        const char *before;
        const char *behind; /* NULL: the path is `before` */
        enum MHD_Result (*answer)(const struct request *request);
} routes[] = {
        { "/", NULL, routes_answer_root },
        { "/style.css", NULL, routes_answer_style },
        { "/healthz", NULL, routes_answer_health },
        { "/api/v1/runs", NULL, routes_answer_runs },
        { "/runs/", "/", routes_answer_page },
        { "/runs/", "/data", routes_answer_data },
        { "/runs/", "/events", routes_answer_events },
        { "/api/v1/runs/", "/metrics", routes_answer_metrics },
        { "/api/v1/runs/", "/chunks", routes_answer_chunks },
        { "/api/v1/runs/", "/series", routes_answer_series },
};

/* The run whose id stands between the two; false: the path is another one. */
static bool routes_match(const struct route *route, const char *path, struct request *request)
{
        size_t len = strlen(path), before = strlen(route->before);
        char id[NAME_MAX + 1];
        size_t behind;

        if (!route->behind)
                return !strcmp(path, route->before);
        behind = strlen(route->behind);
        if (len <= before + behind || strncmp(path, route->before, before) ||
            strcmp(path + len - behind, route->behind) || len - before - behind >= sizeof(id))
                return false;
        memcpy(id, path + before, len - before - behind);
        id[len - before - behind] = '\0';
        request->served = catalog_find(&request->server->catalog, id);
        return request->served;
}

/* Without a name, the run that was written to last */
static struct served *routes_run_of_query(const struct request *request)
{
        const char *id =
                MHD_lookup_connection_value(request->connection, MHD_GET_ARGUMENT_KIND, "run");

        return id ? catalog_find(&request->server->catalog, id)
                  : catalog_latest(&request->server->catalog);
}

enum MHD_Result routes_answer(struct roast_server *server, struct MHD_Connection *connection,
                              const char *path)
{
        struct request request = { .server = server, .connection = connection };
        unsigned int refused = access_check(server, connection);

        if (refused == MHD_HTTP_UNAUTHORIZED)
                return routes_reply_text(&request, refused, "missing token\n");
        if (refused)
                return routes_reply_text(&request, refused, "this server has another name\n");
        if (!path)
                return routes_reply_text(&request, MHD_HTTP_METHOD_NOT_ALLOWED,
                                         "only GET is answered\n");
        if (!strcmp(path, "/metrics")) {
                (void)catalog_refresh(&server->catalog, NULL);
                request.served = routes_run_of_query(&request);
                if (request.served)
                        return routes_answer_openmetrics(&request);
        }
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(routes); i++)
                if (routes_match(&routes[i], path, &request))
                        return routes[i].answer(&request);
        return routes_reply_text(&request, MHD_HTTP_NOT_FOUND, "there is nothing here\n");
}
