/* The options of `roast serve`: see serve.h. */

#include <stdlib.h>

#include "cli.h"
#include "serve.h"

#define HOSTS_MAX 16

static const char *hosts[HOSTS_MAX];

struct serve_request serve_request = {
        .options = { .address = "127.0.0.1", .port = 8427, .hosts = hosts },
};

static int serve_take_port(const char *text)
{
        char *end;
        unsigned long value = strtoul(text, &end, 10);

        if (text[0] < '0' || text[0] > '9' || *end || value > 65535) {
                cli_fail("serve", "a port is a number from 0 to 65535");
                return -1;
        }
        serve_request.options.port = (unsigned int)value;
        return 0;
}

static int serve_take_host(const char *text)
{
        if (serve_request.options.n_hosts == HOSTS_MAX) {
                cli_fail("serve", "too many names");
                return -1;
        }
        hosts[serve_request.options.n_hosts++] = text;
        return 0;
}

static const struct cli_option serve_options[] = {
        { "address", 'a', "ADDRESS",
          "where to listen; default: 127.0.0.1; other than loopback only with a token",
          .word = &serve_request.options.address },
        { "port", 'p', "PORT", "default: 8427; 0: any that is free", .take = serve_take_port },
        { "token-file", 't', "FILE",
          "every request must carry the first line of this file, as a bearer token or as the "
          "password a browser asks for",
          .names_file = true, .word = &serve_request.token_file },
        { "host", 'n', "NAME", "accept requests for this host name, too", .take = serve_take_host },
        { "until-eof", 'e', NULL, "end with standard input: with the program that writes to it",
          .flag = &serve_request.until_eof },
        { 0 },
};

const struct cli_verb verb_serve = {
        .name = "serve",
        .summary = "show runs in a browser while they grow",
        .arguments = "RUN|DIR",
        .least = 1,
        .most = 1,
        .about = "Shows a run, or the runs of a directory, in a browser, also while they grow.\n",
        .options = serve_options,
        .notes = "There is no TLS here: where others can listen on the network, let a proxy "
                 "(nginx,\n"
                 "Caddy) end it and pass requests on to loopback with --host NAME, or use an ssh\n"
                 "tunnel: ssh -L 8427:127.0.0.1:8427 HOST.\n",
        .completes = ".roast",
        .separate = true,
};
