#pragma once
/*
 * What the verbs of `roast` share
 *
 * A verb is a file with one function; main.c lists them. It gets argv with its
 * own name first, parses it with getopt_long(3) and returns the exit code:
 * 0 good, 1 the question was answered with no, 2 could not do it. Messages go
 * to stderr and name the file and the reason; answers go to stdout.
 */

#include <stdbool.h>
#include <stddef.h>

#include "roast-error.h"
#include "roast-run.h"
#include "roast-show.h"

enum { EXIT_GOOD = 0, EXIT_NO = 1, EXIT_CANNOT = 2 };

int verb_check(int argc, char **argv);
int verb_compare(int argc, char **argv);
int verb_explain(int argc, char **argv);
int verb_export(int argc, char **argv);
int verb_import(int argc, char **argv);
int verb_inspect(int argc, char **argv);
int verb_list(int argc, char **argv);
int verb_metrics(int argc, char **argv);
int verb_predict(int argc, char **argv);
int verb_report(int argc, char **argv);
int verb_scaling(int argc, char **argv);
int verb_serve(int argc, char **argv);
int verb_show(int argc, char **argv);
int verb_watch(int argc, char **argv);

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
#define CLI_RUNS_MAX 256

struct cli_runs {
        struct roast_run *runs[CLI_RUNS_MAX];
        size_t groups[CLI_RUNS_MAX];
        size_t n;
        size_t n_groups;
};

/* To be called before getopt, which would take "--" for the end of the options. */
void cli_runs_divide(int argc, char **argv);
/* Opens the runs that words name. An exit code, after a message if it is not EXIT_GOOD; closed in
 * either case. */
int cli_runs_open(struct cli_runs *runs, const char *verb, int n, char **words);
void cli_runs_close(struct cli_runs *runs);

enum cli_format { CLI_TEXT, CLI_JSON, CLI_CSV, CLI_MARKDOWN };

/* The format of that name. 0, or -1 after a message. */
int cli_format(const char *verb, const char *word, enum cli_format *format);
/* The same for what is no table: text, json or markdown. */
int cli_prose_format(const char *verb, const char *word, enum cli_format *format);
/* Prints a table in any format; returns the exit code. */
int cli_print_table(const char *verb, const struct roast_table *table, enum cli_format format);
/* The same; as text at most so many rows, and how many more there are; 0: all. */
int cli_print_table_part(const char *verb, const struct roast_table *table, enum cli_format format,
                         size_t rows);
/* Prints those tables that have rows; as CSV each under a line "# NAME". */
int cli_print_tables(const char *verb, const struct roast_tables *tables, enum cli_format format);

/* Text from a file: control characters, which a terminal obeys, and what is not UTF-8 become '?'.
 * In place. */
char *cli_clean(char *text);

/* Words behind a first text, in lines of that width, the later ones indented; 0: in one line. */
void cli_print_words(const char *first, const char *text, size_t width, int indent);

/* Writes to standard output and frees the string; returns the exit code. */
int cli_print(const char *verb, char *text);
