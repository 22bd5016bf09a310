/* roast: the command. A table of verbs; each verb is a file. */

#include <locale.h>
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
        { "list", "list the runs in a directory", verb_list },
        { "metrics", "explain every metric: unit, formula, source", verb_metrics },
};

static void help(FILE *out)
{
        fputs("Usage: roast VERB [ARGUMENT]...\n"
              "Looks at what roastcoffea measured of a coffea analysis.\n\n",
              out);
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(verbs); i++)
                fprintf(out, "  %-10s %s\n", verbs[i].name, verbs[i].summary);
        fputs("\n'roast VERB --help' tells more. 'roast --version' tells the version.\n"
              "A RUN is a .roast file. Runs are looked for in $ROAST_DIR, or here.\n\n"
              "Exit codes: 0 good, 1 the question was answered with no, 2 could not do it.\n",
              out);
}

int main(int argc, char **argv)
{
        /* a reader that closes the pipe early is no error of ours */
        signal(SIGPIPE, SIG_DFL);
        /* names are UTF-8 and are shown as such, the same under every locale */
        if (!setlocale(LC_CTYPE, "C.UTF-8"))
                setlocale(LC_CTYPE, "");
        if (argc < 2) {
                help(stderr);
                return EXIT_CANNOT;
        }
        if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
                puts("roast " ROAST_VERSION);
                return EXIT_GOOD;
        }
        if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
                help(stdout);
                return EXIT_GOOD;
        }
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(verbs); i++)
                if (!strcmp(argv[1], verbs[i].name))
                        return verbs[i].run(argc - 1, argv + 1);
        fprintf(stderr, "roast: there is no verb '%s'\nTry 'roast --help'.\n", argv[1]);
        return EXIT_CANNOT;
}
