#pragma once
/*
 * What the verbs of `roast` share
 *
 * A verb is a file with one function; main.c lists them. It gets argv with its
 * own name first, parses it with getopt_long(3) and returns the exit code:
 * 0 good, 1 the question was answered with no, 2 could not do it. Messages go
 * to stderr and name the file and the reason; answers go to stdout.
 */

#include "roast-error.h"

enum { EXIT_GOOD = 0, EXIT_NO = 1, EXIT_CANNOT = 2 };

int verb_inspect(int argc, char **argv);

/* "roast VERB: message" on stderr; returns EXIT_CANNOT. */
int cli_fail(const char *verb, const char *format, ...) __attribute__((format(printf, 2, 3)));
