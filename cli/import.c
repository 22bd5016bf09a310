/* roast import: a measurement of another kind as a run file */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"
#include "roast-run.h"
#include "util/cleanup.h"

static const char *output; /* NULL: named after the source, here */

/* The last part of the name that the source really has, "." being one too */
static char *import_default_name(const char *source)
{
        ROAST_CLEANUP(cleanup_free) char *real = realpath(source, NULL);
        const char *name = real ? strrchr(real, '/') : NULL;
        char *result;

        name = name && name[1] ? name + 1 : "run";
        return asprintf(&result, "%s.roast", name) < 0 ? NULL : result;
}

static int import(const char *source)
{
        ROAST_CLEANUP(cleanup_free) char *name = NULL;
        const char *target = output;
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
        if (r >= 0 && !target) {
                target = name = import_default_name(source);
                if (!name)
                        r = roast_fail_nomem(&error);
        }
        if (r >= 0)
                r = roast_run_copy_new(run, target, &error);
        roast_run_free(run);
        if (r < 0)
                return cli_fail("import", "%s", error.message);
        if (name)
                puts(name);
        return EXIT_GOOD;
}

static int import_words(int n, char **words)
{
        (void)n;
        return import(words[0]);
}

static const struct cli_option import_options[] = {
        { "output", 'o', "FILE",
          "the run file to create; default: the name of SOURCE with .roast, here. An existing file "
          "is never replaced.",
          .names_file = true, .word = &output },
        { 0 },
};

const struct cli_verb verb_import = {
        .name = "import",
        .summary = "convert a measurement, or logs of TaskVine or Parsl, to a run file",
        .arguments = "SOURCE",
        .least = 1,
        .most = 1,
        .about = "Converts a measurement directory, a folder of TaskVine's logs, or Parsl's\n"
                 "monitoring.db to a run file. Every verb that takes a RUN takes SOURCE itself, "
                 "too.\n",
        .options = import_options,
        .completes = ".db",
        .run = import_words,
};
