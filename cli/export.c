/* roast export: a run in other formats */

#include <errno.h>
#include <fcntl.h>
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

static struct roast_export_options wanted;
static int format, what;
static const char *source;
static const char *output; /* NULL: standard output */

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
static int export_open_target(struct target *target)
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

static int export(struct roast_run *run)
{
        struct target target = { .path = output, .fd = STDOUT_FILENO };
        struct roast_error error = { 0 };
        int code;

        if (wanted.format == ROAST_EXPORT_V1)
                return roast_export_v1(run, output, &error) < 0
                               ? cli_fail("export", "%s", error.message)
                               : EXIT_GOOD;
        code = export_open_target(&target);
        if (code == EXIT_GOOD && roast_export(run, &wanted, export_write_all, &target, &error) < 0)
                code = cli_fail("export", "%s", error.message);
        if (code == EXIT_GOOD)
                code = export_keep_target(&target);
        export_close_target(&target);
        return code;
}

/* Contradictions are reported before a run is opened. */
static int export_check(void)
{
        if (wanted.format == ROAST_EXPORT_V1 && wanted.what != ROAST_EXPORT_DEFAULT)
                return cli_fail("export", "v1 holds everything: --what does not go with it");
        if (wanted.format == ROAST_EXPORT_V1 && !output)
                return cli_fail("export", "v1 is a directory: name it with --output");
        if (wanted.per_worker && wanted.format != ROAST_EXPORT_OPENMETRICS)
                return cli_fail("export", "--per-worker goes with --format openmetrics only");
        return EXIT_GOOD;
}

static int export_run(int n, char **words)
{
        int code;

        (void)n;
        source = words[0];
        wanted.format = (enum roast_export_format)format;
        wanted.what = (enum roast_export_what)what;
        code = export_check();
        return code == EXIT_GOOD ? cli_with_run("export", source, export) : code;
}

static const struct cli_option export_options[] = {
        { "format", 'f', "FORMAT", "output format", .choices = roast_export_formats,
          .choice = &format },
        { "what", 'w', "WHAT", "what to write", .choices = roast_export_whats, .choice = &what },
        { "per-worker", 'p', NULL, "openmetrics: add the figures of each worker",
          .flag = &wanted.per_worker },
        { "output", 'o', "FILE",
          "write to this file, complete or not at all, instead of standard output; v1: the "
          "directory to create",
          .names_file = true, .word = &output },
        { 0 },
};

const struct cli_verb verb_export = {
        .name = "export",
        .summary = "write a run in another format",
        .arguments = "RUN",
        .least = 1,
        .most = 1,
        .about = "Writes a run, or a part of it, in another format; v1 is a directory.\n",
        .options = export_options,
        .notes =
                "Rows of chunks have the keys of the documented record. What is not known is left\n"
                "out, or empty: it is never 0. csv and markdown have no nested values.\n",
        .completes = ".roast",
        .run = export_run,
};
