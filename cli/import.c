/* roast import: a measurement of another kind as a run file */

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"
#include "roast-run.h"
#include "util/cleanup.h"

static void import_help(void)
{
        fputs("Usage: roast import SOURCE [--output RUN.roast]\n"
              "Makes a run file of a measurement directory, a folder of TaskVine's logs, or "
              "Parsl's\n"
              "monitoring.db. Every verb that takes a RUN takes SOURCE itself, too.\n\n"
              "  -o, --output FILE  the run file; without it SOURCE's name and .roast, here.\n"
              "                     A file that is there is never replaced.\n"
              "  -h, --help         this text\n",
              stdout);
}

/* The last part of the name that the source really has, "." being one too */
static char *import_default_name(const char *source)
{
        ROAST_CLEANUP(cleanup_free) char *real = realpath(source, NULL);
        const char *name = real ? strrchr(real, '/') : NULL;
        char *result;

        name = name && name[1] ? name + 1 : "run";
        return asprintf(&result, "%s.roast", name) < 0 ? NULL : result;
}

static int import(const char *source, const char *output)
{
        ROAST_CLEANUP(cleanup_free) char *name = NULL;
        struct roast_error error = { 0 };
        struct roast_run *run = NULL;
        struct stat st;
        int r;

        if (stat(source, &st) == 0 && S_ISREG(st.st_mode) &&
            roast_run_open(&run, source, &error) >= 0) {
                roast_run_free(run);
                return cli_fail("import", "%s: is a run file already", source);
        }
        r = roast_run_open_any(&run, source, &error);
        if (r >= 0 && !output) {
                output = name = import_default_name(source);
                if (!name)
                        r = roast_fail_nomem(&error);
        }
        if (r >= 0)
                r = roast_run_copy_new(run, output, &error);
        roast_run_free(run);
        if (r < 0)
                return cli_fail("import", "%s", error.message);
        if (name)
                puts(name);
        return EXIT_GOOD;
}

int verb_import(int argc, char **argv)
{
        static const struct option options[] = {
                { "output", required_argument, NULL, 'o' },
                { "help", no_argument, NULL, 'h' },
                { 0 },
        };
        const char *output = NULL;
        int option;

        while ((option = getopt_long(argc, argv, "o:h", options, NULL)) != -1) {
                switch (option) {
                case 'o':
                        output = optarg;
                        break;
                case 'h':
                        import_help();
                        return EXIT_GOOD;
                default:
                        return cli_usage("import");
                }
        }
        if (argc - optind != 1) {
                cli_fail("import", "one SOURCE is wanted, not %d", argc - optind);
                return cli_usage("import");
        }
        return import(argv[optind], output);
}
