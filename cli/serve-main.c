/*
 * roast-serve: the server behind `roast serve`
 *
 * A program of its own, so that the libraries that it needs cost the command's
 * other verbs nothing.
 */

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "serve.h"

#define TOKEN_MAX 512

/* The first line of the file */
static int serve_read_token(const char *path, char token[static TOKEN_MAX])
{
        FILE *in = fopen(path, "re");
        size_t len;

        if (!in || !fgets(token, TOKEN_MAX, in)) {
                cli_fail("serve", "%s: %s", path, in && !ferror(in) ? "is empty" : strerror(errno));
                if (in)
                        fclose(in);
                return -1;
        }
        fclose(in);
        len = strcspn(token, "\r\n");
        token[len] = '\0';
        if (len < 16) {
                cli_fail("serve", "%s: a token has 16 characters or more", path);
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

static int serve(const struct roast_serve_options *options)
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
                return cli_fail("serve", "%s", error.message);
        printf(strchr(options->address, ':') ? "http://[%s]:%u/\n" : "http://%s:%u/\n",
               options->address, roast_server_port(server));
        fflush(stdout);
        if (serve_request.until_eof && pthread_create(&reader, NULL, serve_read_input, NULL) == 0)
                pthread_detach(reader);
        sigwait(&signals, &which);
        roast_server_stop(server);
        return EXIT_GOOD;
}

static int serve_words(int n, char **words)
{
        char token[TOKEN_MAX];

        (void)n;
        serve_request.options.path = words[0];
        if (serve_request.token_file) {
                if (serve_read_token(serve_request.token_file, token) < 0)
                        return EXIT_CANNOT;
                serve_request.options.token = token;
        }
        return serve(&serve_request.options);
}

int main(int argc, char **argv)
{
        struct cli_verb verb = verb_serve;

        verb.run = serve_words;
        return verb_main(&verb, argc, argv);
}
