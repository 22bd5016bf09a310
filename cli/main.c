/* roast: the command. A table of verbs; each verb is a file. */

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "util/size.h"

static const struct verb {
        const char *name;
        const char *summary;
        int (*run)(int argc, char **argv);
} verbs[] = {
        { "show", "show what was measured in a run", verb_show },
        { "explain", "tell why a run took as long as it did", verb_explain },
        { "predict", "tell how long it would take with other workers or chunks", verb_predict },
        { "report", "write a page that shows a run in a browser", verb_report },
        { "serve", "show runs in a browser while they grow", verb_serve },
        { "watch", "show a run in the terminal while it grows", verb_watch },
        { "list", "list the runs in a directory", verb_list },
        { "compare", "tell what differs between runs, and how sure that is", verb_compare },
        { "scaling", "tell how throughput grows with cores, over several runs", verb_scaling },
        { "check", "tell whether a run file is whole", verb_check },
        { "inspect", "tell what is in ROOT files, and what a chunk takes", verb_inspect },
        { "export", "write a run in another format", verb_export },
        { "import", "make a run file of a measurement, or of logs of TaskVine or Parsl",
          verb_import },
        { "metrics", "explain every metric: unit, formula, source", verb_metrics },
};

static void main_help(FILE *out)
{
        fputs("Usage: roast VERB [ARGUMENT]...\n"
              "Looks at what roastcoffea measured of a coffea analysis.\n\n",
              out);
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(verbs); i++)
                fprintf(out, "  %-10s %s\n", verbs[i].name, verbs[i].summary);
        fputs("\n'roast VERB --help' tells more. 'roast --version' tells the version.\n"
              "A RUN is a .roast file, a measurement directory, a folder of TaskVine's logs, or\n"
              "Parsl's monitoring.db.\n\n"
              "Exit codes: 0 good, 1 the question was answered with no, 2 could not do it.\n",
              out);
}

static bool main_is_version(const char *word)
{
        return !strcmp(word, "--version") || !strcmp(word, "-V");
}

static int main_version(void)
{
        puts("roast " ROAST_VERSION);
        return EXIT_GOOD;
}

/* argv[0] is what getopt_long(3) calls us in its messages. */
static int main_run_verb(const struct verb *verb, int argc, char **argv)
{
        char name[32];

        if (argc == 2 && main_is_version(argv[1]))
                return main_version();
        snprintf(name, sizeof(name), "roast %s", verb->name);
        argv[0] = name;
        return verb->run(argc, argv);
}

static int main_run(int argc, char **argv)
{
        if (argc < 2) {
                main_help(stderr);
                return EXIT_CANNOT;
        }
        if (main_is_version(argv[1]))
                return main_version();
        if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
                main_help(stdout);
                return EXIT_GOOD;
        }
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(verbs); i++)
                if (!strcmp(argv[1], verbs[i].name))
                        return main_run_verb(&verbs[i], argc - 1, argv + 1);
        fprintf(stderr, "roast: there is no verb '%s'\nTry 'roast --help'.\n", argv[1]);
        return EXIT_CANNOT;
}

int main(int argc, char **argv)
{
        int code;

        /* a reader that closes the pipe early is no error of ours */
        signal(SIGPIPE, SIG_DFL);
        code = main_run(argc, argv);
        if ((fflush(stdout) < 0 || ferror(stdout)) && code != EXIT_CANNOT) {
                fprintf(stderr, "roast: cannot write: %s\n", strerror(errno));
                code = EXIT_CANNOT;
        }
        return code;
}
