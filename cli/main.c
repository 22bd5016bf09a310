/* roast: the command. A table of verbs; each verb is a file. */

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "util/size.h"

static const struct cli_verb *const verbs[] = {
        &verb_show,    &verb_explain, &verb_predict, &verb_report,  &verb_serve,
        &verb_watch,   &verb_list,    &verb_compare, &verb_scaling, &verb_check,
        &verb_inspect, &verb_export,  &verb_import,  &verb_metrics,
};

static int main_help(FILE *out)
{
        fputs("Usage: roast VERB [ARGUMENT]...\n"
              "Shows what roastcoffea measured in a coffea analysis.\n\n",
              out);
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(verbs); i++)
                fprintf(out, "  %-10s %s\n", verbs[i]->name, verbs[i]->summary);
        fputs("\nSee 'roast VERB --help' for the options of a verb, 'roast --version' for the "
              "version.\n"
              "A RUN is a .roast file, a measurement directory, a folder of TaskVine's logs, or\n"
              "Parsl's monitoring.db.\n\n"
              "Exit codes: 0 success, 1 a check failed, 2 an error.\n",
              out);
        return EXIT_GOOD;
}

static int main_version(void)
{
        puts("roast " ROAST_VERSION);
        return EXIT_GOOD;
}

static bool main_is(const char *word, const char *name, const char *letter)
{
        return !strcmp(word, name) || !strcmp(word, letter);
}

static const struct cli_verb *main_find(const char *name)
{
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(verbs); i++)
                if (!strcmp(name, verbs[i]->name))
                        return verbs[i];
        return NULL;
}

/* How many letters have to be changed, added or left out to make one word of the other */
static size_t main_distance(const char *a, const char *b)
{
        size_t n = strlen(b), row[32];

        if (n >= ROAST_ARRAY_SIZE(row))
                return SIZE_MAX;
        for (size_t j = 0; j <= n; j++)
                row[j] = j;
        for (size_t i = 1; a[i - 1]; i++) {
                size_t corner = row[0];

                row[0] = i;
                for (size_t j = 1; j <= n; j++) {
                        size_t changed = corner + (a[i - 1] != b[j - 1]);
                        size_t other = 1 + (row[j] < row[j - 1] ? row[j] : row[j - 1]);

                        corner = row[j];
                        row[j] = changed < other ? changed : other;
                }
        }
        return row[n];
}

static int main_unknown(const char *word)
{
        const struct cli_verb *nearest = verbs[0];

        for (size_t i = 1; i < ROAST_ARRAY_SIZE(verbs); i++)
                if (main_distance(word, verbs[i]->name) < main_distance(word, nearest->name))
                        nearest = verbs[i];
        fprintf(stderr, "roast: there is no verb '%s'", word);
        if (main_distance(word, nearest->name) <= 2)
                fprintf(stderr, "; did you mean '%s'?", nearest->name);
        fputs("\nTry 'roast --help'.\n", stderr);
        return EXIT_CANNOT;
}

/* Replaces this program by roast-VERB, which stands beside it. */
static int main_hand_over(const char *verb, char **argv)
{
        char path[PATH_MAX];
        ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 32);
        char *end;

        if (len < 0)
                return cli_fail(verb, "/proc/self/exe: %s", strerror(errno));
        path[len] = '\0';
        end = strrchr(path, '/');
        snprintf(end ? end + 1 : path, 32, "roast-%s", verb);
        execv(path, argv);
        return cli_fail(verb, "%s: %s", path, strerror(errno));
}

/* For the completion of shells: the words typed so far, the last of which may be empty */
static int main_complete(int n, char **words)
{
        const struct cli_verb *verb = n > 1 ? main_find(words[0]) : NULL;

        if (verb)
                verb_complete(verb, n, words);
        if (n != 1)
                return EXIT_GOOD;
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(verbs); i++)
                verb_offer(words[0], "", verbs[i]->name, verbs[i]->summary);
        if (words[0][0] == '-') {
                verb_offer(words[0], "", "--help", "print help");
                verb_offer(words[0], "", "--version", "print the version");
        }
        return EXIT_GOOD;
}

static int main_run(int argc, char **argv)
{
        const struct cli_verb *verb;

        if (argc < 2) {
                main_help(stderr);
                return EXIT_CANNOT;
        }
        if (main_is(argv[argc == 3 && main_find(argv[1]) ? 2 : 1], "--version", "-V"))
                return main_version();
        if (main_is(argv[1], "--help", "-h") || !strcmp(argv[1], "help"))
                return main_help(stdout);
        if (!strcmp(argv[1], "--complete"))
                return main_complete(argc - 2, argv + 2);
        verb = main_find(argv[1]);
        if (!verb)
                return main_unknown(argv[1]);
        return verb->separate ? main_hand_over(verb->name, argv + 1)
                              : verb_main(verb, argc - 1, argv + 1);
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
