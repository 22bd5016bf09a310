/* roast export: a run in other formats */

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "roast-export.h"
#include "roast-run.h"
#include "util/cleanup.h"
#include "util/size.h"

static void export_help(void)
{
        fputs("Usage: roast export RUN [--format FORMAT] [--what WHAT] [--output FILE]\n"
              "Writes a run, or a part of it, in another format.\n\n"
              "  -f, --format FORMAT  json (default), jsonl, csv, markdown, openmetrics,\n"
              "                       chrome-trace, or v1, which is a directory\n"
              "  -w, --what WHAT      metrics (default), chunks, sections, files, tasks or series\n"
              "  -p, --per-worker     openmetrics: figures of each worker, too\n"
              "  -o, --output FILE    write to this file, complete or not at all, instead of\n"
              "                       standard output; v1: make this directory\n"
              "  -h, --help           this text\n\n"
              "Rows of chunks have the keys of the documented record. What is not known is left\n"
              "out, or empty: it is never 0. csv and markdown have no nested values.\n",
              stdout);
}

/* Where the output goes */
struct target {
        const char *path; /* NULL: standard output */
        char *final;      /* where that leads; NULL: written to directly, as is */
        char *temporary;  /* beside it */
        int fd;
};

/* The file that a signal is not to leave behind; NULL: there is none */
static char *_Atomic unfinished;

/* Ends the program, as the signal would have done, when it returns. */
static void export_remove_unfinished(int number)
{
        char *path = unfinished;

        if (path)
                unlink(path);
        signal(number, SIG_DFL);
        raise(number);
}

/* A signal that is ignored, as under nohup, stays so. */
static void export_remove_when_interrupted(char *path)
{
        static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
        struct sigaction action = { .sa_handler = export_remove_unfinished };
        struct sigaction now;

        unfinished = path;
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(signals); i++)
                if (sigaction(signals[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL)
                        sigaction(signals[i], &action, NULL);
}

static int export_write_all(const void *data, size_t len, void *context, struct roast_error *error)
{
        const struct target *target = context;
        const char *at = data;

        while (len) {
                ssize_t n = write(target->fd, at, len);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return roast_fail(error, ROAST_E_IO, "%s: cannot write: %s",
                                          target->path ? target->path : "standard output",
                                          strerror(errno));
                at += n;
                len -= (size_t)n;
        }
        return 0;
}

/* Under whatever name, such as /dev/stdout: what is there already is not ours to replace. */
static bool export_is_standard_output(const struct stat *st)
{
        struct stat own;

        return fstat(STDOUT_FILENO, &own) == 0 && own.st_dev == st->st_dev &&
               own.st_ino == st->st_ino;
}

static int export_open_temporary(struct target *target)
{
        struct roast_error error = { 0 };

        if (roast_export_resolve(&target->final, target->path, &error) < 0)
                return cli_fail("export", "%s", error.message);
        if (asprintf(&target->temporary, "%s.%ld.part", target->final, (long)getpid()) < 0) {
                target->temporary = NULL;
                return cli_fail("export", "out of memory");
        }
        unlink(target->temporary);
        export_remove_when_interrupted(target->temporary);
        target->fd = open(target->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        return EXIT_GOOD;
}

/* Beside the final name; a device or a pipe is written to as it is. */
static int export_open_target(struct target *target, const char *source)
{
        struct roast_error error = { 0 };
        int code = EXIT_GOOD;
        struct stat st;
        bool is_there;

        if (!target->path)
                return EXIT_GOOD;
        if (roast_export_check_target(target->path, source, &error) < 0)
                return cli_fail("export", "%s", error.message);
        is_there = stat(target->path, &st) == 0;
        if (is_there && S_ISDIR(st.st_mode))
                return cli_fail("export", "%s: is a directory", target->path);
        if (is_there && export_is_standard_output(&st))
                return EXIT_GOOD;
        if (is_there && !S_ISREG(st.st_mode))
                target->fd = open(target->path, O_WRONLY | O_CLOEXEC);
        else
                code = export_open_temporary(target);
        if (code == EXIT_GOOD && target->fd < 0)
                code = cli_fail("export", "%s: cannot be created: %s", target->path,
                                strerror(errno));
        return code;
}

/* On the disk before it has its name; a full disk may say so only now. */
static int export_keep_target(struct target *target)
{
        if (!target->temporary)
                return EXIT_GOOD;
        if (fsync(target->fd) < 0 || close(target->fd) < 0 ||
            rename(target->temporary, target->final) < 0)
                return cli_fail("export", "%s: cannot write: %s", target->path, strerror(errno));
        target->fd = -1;
        unfinished = NULL;
        free(target->temporary);
        target->temporary = NULL;
        return EXIT_GOOD;
}

static void export_close_target(struct target *target)
{
        if (target->fd >= 0 && target->fd != STDOUT_FILENO)
                close(target->fd);
        if (target->temporary)
                unlink(target->temporary);
        unfinished = NULL;
        free(target->temporary);
        free(target->final);
}

static int export(struct roast_run *run, const char *source,
                  const struct roast_export_options *options, const char *path)
{
        struct target target = { .path = path, .fd = STDOUT_FILENO };
        struct roast_error error = { 0 };
        int code;

        if (options->format == ROAST_EXPORT_V1)
                return roast_export_v1(run, path, &error) < 0
                               ? cli_fail("export", "%s", error.message)
                               : EXIT_GOOD;
        code = export_open_target(&target, source);
        if (code == EXIT_GOOD && roast_export(run, options, export_write_all, &target, &error) < 0)
                code = cli_fail("export", "%s", error.message);
        if (code == EXIT_GOOD)
                code = export_keep_target(&target);
        export_close_target(&target);
        return code;
}

/* What does not go together is said before a run is opened. */
static int export_check(const struct roast_export_options *options, const char *path)
{
        if (options->format == ROAST_EXPORT_V1 && options->what != ROAST_EXPORT_DEFAULT)
                return cli_fail("export", "v1 holds everything: --what does not go with it");
        if (options->format == ROAST_EXPORT_V1 && !path)
                return cli_fail("export", "v1 is a directory: name it with --output");
        if (options->per_worker && options->format != ROAST_EXPORT_OPENMETRICS)
                return cli_fail("export", "--per-worker goes with --format openmetrics only");
        return EXIT_GOOD;
}

static int export_choose(const char *word, const char *const *choices, const char *what,
                         int *choice)
{
        *choice = *word ? cli_choice(word, choices) : -1;
        return *choice < 0 ? cli_fail("export", "there is no %s '%s'", what, word) : EXIT_GOOD;
}

int verb_export(int argc, char **argv)
{
        static const struct option options[] = {
                { "format", required_argument, NULL, 'f' },
                { "what", required_argument, NULL, 'w' },
                { "per-worker", no_argument, NULL, 'p' },
                { "output", required_argument, NULL, 'o' },
                { "help", no_argument, NULL, 'h' },
                { 0 },
        };
        struct roast_export_options wanted = { 0 };
        struct roast_error error = { 0 };
        const char *path = NULL;
        struct roast_run *run;
        int option, choice, code = EXIT_GOOD;

        while (code == EXIT_GOOD &&
               (option = getopt_long(argc, argv, "f:w:po:h", options, NULL)) != -1) {
                switch (option) {
                case 'f':
                        code = export_choose(optarg, roast_export_formats, "format", &choice);
                        wanted.format = (enum roast_export_format)choice;
                        break;
                case 'w':
                        code = export_choose(optarg, roast_export_whats, "part of a run", &choice);
                        wanted.what = (enum roast_export_what)choice;
                        break;
                case 'p':
                        wanted.per_worker = true;
                        break;
                case 'o':
                        path = optarg;
                        break;
                case 'h':
                        export_help();
                        return EXIT_GOOD;
                default:
                        return cli_usage("export");
                }
        }
        if (code == EXIT_GOOD && argc - optind != 1) {
                cli_fail("export", "one RUN is wanted, not %d", argc - optind);
                return cli_usage("export");
        }
        if (code == EXIT_GOOD)
                code = export_check(&wanted, path);
        if (code != EXIT_GOOD)
                return code;
        if (roast_run_open_any(&run, argv[optind], &error) < 0)
                return cli_fail("export", "%s", error.message);
        code = export(run, argv[optind], &wanted, path);
        roast_run_free(run);
        return code;
}
