#pragma once
/*
 * What the verbs of `roast` share
 *
 * Exit codes: 0 success, 1 a check failed, 2 an error. Messages go to stderr and
 * name the file and the reason; answers go to stdout.
 */

#include <stdbool.h>
#include <stddef.h>

#include "roast-error.h"
#include "roast-run.h"
#include "roast-show.h"
#include "verb.h"

extern const struct cli_verb verb_check, verb_compare, verb_explain, verb_export, verb_import,
        verb_inspect, verb_list, verb_metrics, verb_predict, verb_report, verb_scaling, verb_serve,
        verb_show, verb_watch;

/* "roast VERB: message" on stderr; returns EXIT_CANNOT. */
int cli_fail(const char *verb, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Points to --help after getopt has said what is wrong; returns EXIT_CANNOT. */
int cli_usage(const char *verb);

/* Whether standard output takes colours: a terminal that is not dumb, and NO_COLOR is not set. */
bool cli_color(void);
/* The terminal's width, or 0 where there is no terminal. */
size_t cli_width(void);

/* The index of a word in a NULL-terminated list, or -1. */
int cli_choice(const char *word, const char *const *choices);

/* Runs in groups: each its own, or those between two "--" */
#define CLI_RUNS_MAX 1024

struct cli_runs {
        struct roast_run *runs[CLI_RUNS_MAX];
        size_t groups[CLI_RUNS_MAX];
        size_t n;
        size_t n_groups;
};

/* Replaces "--", which getopt_long(3) would take for the end of the options. */
void cli_runs_divide(int argc, char **argv);
/* Opens the runs that words name. An exit code, after a message if it is not EXIT_GOOD; closed in
 * either case. */
int cli_runs_open(struct cli_runs *runs, const char *verb, int n, char **words);
void cli_runs_close(struct cli_runs *runs);
/* Opens one run and calls the function with it; returns the exit code. */
int cli_with_run(const char *verb, const char *path, int (*use)(struct roast_run *run));

enum cli_format { CLI_TEXT, CLI_JSON, CLI_MARKDOWN, CLI_CSV };

/* Their names; for what is no table, those without csv */
extern const char *const cli_formats[], *const cli_prose_formats[];

#define CLI_FORMAT_OPTION(names, into)                                                             \
        {                                                                                          \
                "format", 'f', "FORMAT", "output format", .choices = (names), .choice = (into)     \
        }

/* Prints a table in any format; returns the exit code. */
int cli_print_table(const char *verb, const struct roast_table *table, int format);
/* The same; as text at most so many rows, and how many more there are; 0: all. */
int cli_print_table_part(const char *verb, const struct roast_table *table, int format,
                         size_t rows);
/* Prints those tables that have rows; as CSV each under a line "# NAME". */
int cli_print_tables(const char *verb, const struct roast_tables *tables, int format);

/* Text from a file: control characters, which a terminal obeys, become '?'. In place. */
char *cli_clean(char *text);

/* Words behind a first text, in lines of that width, the later ones indented; 0: in one line. */
void cli_print_words(const char *first, const char *text, size_t width, int indent);

/* Writes to standard output and frees the string; returns the exit code. */
int cli_print(const char *verb, char *text);
