/*
 * roast-serve: the server behind `roast serve`
 *
 * A program of its own, so that the libraries that it needs cost the command's
 * other verbs nothing.
 */

#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "roast-serve.h"

#define TOKEN_MAX 512
#define HOSTS_MAX 16

enum { EXIT_GOOD = 0, EXIT_CANNOT = 2 };

static void serve_help(void)
{
        fputs("Usage: roast serve RUN|DIR [--address ADDRESS] [--port PORT] [--token-file FILE]\n"
              "Shows a run, or the runs of a directory, in a browser, also while they grow.\n\n"
              "  -a, --address ADDRESS  where to listen: 127.0.0.1 if nothing else is said;\n"
              "                         other than loopback only with a token\n"
              "  -p, --port PORT        8427 if nothing else is said, 0: any that is free\n"
              "  -t, --token-file FILE  its first line is wanted of every request, as a bearer\n"
              "                         token or as the password a browser asks for\n"
              "  -n, --host NAME        a further name under which it may be asked for\n"
              "  -e, --until-eof        end with standard input: with the program that wrote to "
              "it\n"
              "  -h, --help             this text\n\n"
              "There is no TLS here: where others can listen on the network, let a proxy (nginx,\n"
              "Caddy) end it and pass requests on to loopback with --host NAME, or use an ssh\n"
              "tunnel: ssh -L 8427:127.0.0.1:8427 HOST.\n",
              stdout);
}

static int serve_fail(const char *message)
{
        fprintf(stderr, "roast serve: %s\n", message);
        return EXIT_CANNOT;
}

/* The first line of the file */
static int serve_read_token(const char *path, char token[static TOKEN_MAX])
{
        FILE *in = fopen(path, "re");
        size_t len;

        if (!in || !fgets(token, TOKEN_MAX, in)) {
                fprintf(stderr, "roast serve: %s: %s\n", path,
                        in && !ferror(in) ? "is empty" : strerror(errno));
                if (in)
                        fclose(in);
                return -1;
        }
        fclose(in);
        len = strcspn(token, "\r\n");
        token[len] = '\0';
        if (len < 16) {
                fprintf(stderr, "roast serve: %s: a token has 16 characters or more\n", path);
                return -1;
        }
        return 0;
}

/* However the other program ends, the system closes its end of the pipe. */
static void *serve_read_input(void *unused)
{
        char ignored[256];
        ssize_t n;

        do
                n = read(STDIN_FILENO, ignored, sizeof(ignored));
        while (n > 0 || (n < 0 && errno == EINTR));
        kill(getpid(), SIGTERM);
        return unused;
}

static int serve(const struct roast_serve_options *options, bool until_eof)
{
        struct roast_error error = { 0 };
        struct roast_server *server;
        pthread_t reader;
        sigset_t signals;
        int which;

        sigemptyset(&signals);
        sigaddset(&signals, SIGINT);
        sigaddset(&signals, SIGTERM);
        sigaddset(&signals, SIGHUP);
        pthread_sigmask(SIG_BLOCK, &signals, NULL); /* for the threads of the server too */
        signal(SIGPIPE, SIG_IGN);
        if (roast_server_start(&server, options, &error) < 0)
                return serve_fail(error.message);
        printf(strchr(options->address, ':') ? "http://[%s]:%u/\n" : "http://%s:%u/\n",
               options->address, roast_server_port(server));
        fflush(stdout);
        if (until_eof && pthread_create(&reader, NULL, serve_read_input, NULL) == 0)
                pthread_detach(reader);
        sigwait(&signals, &which);
        roast_server_stop(server);
        return EXIT_GOOD;
}

static int serve_read_port(const char *text, unsigned int *port)
{
        char *end;
        unsigned long value = strtoul(text, &end, 10);

        if (text[0] < '0' || text[0] > '9' || *end || value > 65535)
                return -1;
        *port = (unsigned int)value;
        return 0;
}

int main(int argc, char **argv)
{
        static const struct option options[] = {
                { "address", required_argument, NULL, 'a' },
                { "port", required_argument, NULL, 'p' },
                { "token-file", required_argument, NULL, 't' },
                { "host", required_argument, NULL, 'n' },
                { "until-eof", no_argument, NULL, 'e' },
                { "help", no_argument, NULL, 'h' },
                { 0 },
        };
        struct roast_serve_options serving = { .address = "127.0.0.1", .port = 8427 };
        const char *hosts[HOSTS_MAX];
        char token[TOKEN_MAX];
        bool until_eof = false;
        int option;

        argv[0] = (char[]){ "roast serve" };
        serving.hosts = hosts;
        while ((option = getopt_long(argc, argv, "a:p:t:n:eh", options, NULL)) != -1) {
                switch (option) {
                case 'a':
                        serving.address = optarg;
                        break;
                case 'p':
                        if (serve_read_port(optarg, &serving.port) < 0)
                                return serve_fail("a port is a number from 0 to 65535");
                        break;
                case 't':
                        if (serve_read_token(optarg, token) < 0)
                                return EXIT_CANNOT;
                        serving.token = token;
                        break;
                case 'n':
                        if (serving.n_hosts == HOSTS_MAX)
                                return serve_fail("too many names");
                        hosts[serving.n_hosts++] = optarg;
                        break;
                case 'e':
                        until_eof = true;
                        break;
                case 'h':
                        serve_help();
                        return EXIT_GOOD;
                default:
                        return serve_fail("try 'roast serve --help'");
                }
        }
        if (argc - optind != 1)
                return serve_fail("one RUN or directory is wanted; try 'roast serve --help'");
        serving.path = argv[optind];
        return serve(&serving, until_eof);
}
