/*
 * Who may ask
 *
 * A browser can be made to ask a server on loopback for anything, under a name
 * that somebody else lets point there: only names that are ours are answered.
 * The token comes as a bearer token or as the password of basic authentication,
 * which browsers ask their users for.
 */

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "serve/server.h"

/* How long it takes says nothing about where the two differ. */
static bool access_same(const char *told, size_t len, const char *token)
{
        size_t wanted = strlen(token);
        unsigned char different = len != wanted;

        for (size_t i = 0; i < len; i++)
                different |= (unsigned char)(told[i] ^ token[wanted ? i % wanted : 0]);
        return !different;
}

static int access_digit(char c)
{
        if (c >= 'A' && c <= 'Z')
                return c - 'A';
        if (c >= 'a' && c <= 'z')
                return c - 'a' + 26;
        if (c >= '0' && c <= '9')
                return c - '0' + 52;
        return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* The bytes of base64 text, into `out`; returns their number. */
static size_t access_decode(const char *text, char *out, size_t max)
{
        unsigned int bits = 0, n_bits = 0;
        size_t n = 0;

        for (; access_digit(*text) >= 0 && n < max; text++) {
                bits = bits << 6 | (unsigned int)access_digit(*text);
                n_bits += 6;
                if (n_bits >= 8) {
                        n_bits -= 8;
                        out[n++] = (char)(bits >> n_bits & 0xff);
                }
        }
        return n;
}

static bool access_has_token(const char *header, const char *token)
{
        char plain[1024];
        const char *colon;
        size_t n;

        if (!header)
                return false;
        if (!strncasecmp(header, "Bearer ", 7))
                return access_same(header + 7, strlen(header + 7), token);
        if (strncasecmp(header, "Basic ", 6))
                return false;
        n = access_decode(header + 6, plain, sizeof(plain));
        colon = memchr(plain, ':', n);
        return colon && access_same(colon + 1, n - (size_t)(colon + 1 - plain), token);
}

static bool access_is_host(const char *told, size_t len, const char *name)
{
        return strlen(name) == len && !strncasecmp(told, name, len);
}

/* "name", "name:port", "[::1]:port" */
static bool access_knows_host(const struct roast_server *server, const char *host)
{
        static const char *const loopback[] = { "localhost", "127.0.0.1", "[::1]" };
        size_t len;

        if (!host)
                return false;
        len = host[0] == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":");
        if (len > strlen(host) || (host[len] && host[len] != ':'))
                return false;
        for (size_t i = 0; i < sizeof(loopback) / sizeof(loopback[0]); i++)
                if (access_is_host(host, len, loopback[i]))
                        return true;
        for (size_t i = 0; i < server->n_hosts; i++)
                if (access_is_host(host, len, server->hosts[i]))
                        return true;
        return false;
}

static const char *access_header_of(struct MHD_Connection *connection, const char *name)
{
        return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

unsigned int access_check(const struct roast_server *server, struct MHD_Connection *connection)
{
        if (!access_knows_host(server, access_header_of(connection, MHD_HTTP_HEADER_HOST)))
                return MHD_HTTP_MISDIRECTED_REQUEST;
        if (server->token &&
            !access_has_token(access_header_of(connection, MHD_HTTP_HEADER_AUTHORIZATION),
                              server->token))
                return MHD_HTTP_UNAUTHORIZED;
        return 0;
}
