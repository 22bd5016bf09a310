#pragma once
/*
 * Verbs and their options, declared once
 *
 * A verb is a file that ends in a constant `struct cli_verb`; main.c lists them.
 * Parsing, `--help` and shell completion all come from the declaration:
 *
 *     static int format;
 *     static const struct cli_option show_options[] = {
 *             { "format", 'f', "FORMAT", "output format", .choices = cli_formats, .choice = &format
 * }, { 0 },
 *     };
 *     const struct cli_verb verb_show = { "show", ..., show_options, .run = show };
 *
 * Where an option's value goes is one of flag, word, choice and take.
 */

#include <stdbool.h>
#include <stddef.h>

enum { EXIT_GOOD = 0, EXIT_NO = 1, EXIT_CANNOT = 2 };

struct cli_option {
        const char *name;           /* long; NULL ends the list */
        char letter;                /* 0: none */
        const char *value;          /* what the help calls its value; NULL: a flag */
        const char *help;           /* the choices are added to it where `choice` is set */
        const char *const *choices; /* its possible values; NULL: any */
        bool names_file;            /* completed with names of files */
        bool required;
        bool *flag;
        const char **word;
        int *choice; /* index in choices; 0 is the default */
        /* Reads the value: 0, or -1 after a message. */
        int (*take)(const char *value);
};

struct cli_verb {
        const char *name;
        const char *summary;   /* in `roast --help` */
        const char *arguments; /* in the usage line: "RUN", "[DIR]" */
        int least, most;       /* how many of them; most 0: any number */
        const char *about;     /* lines below the usage */
        const struct cli_option *options;
        const char *notes;        /* lines at the end of the help; NULL: none */
        void (*more_notes)(void); /* prints what is made at run time; NULL: nothing */
        const char *completes;    /* ending of files that are arguments, "/" for directories */
        void (*complete)(const char *typed); /* prints arguments that start with it, instead */
        bool groups;                         /* "--" divides the arguments: see cli_runs */
        bool separate;                       /* roast-NAME, a program beside this one */
        /* Returns the exit code. */
        int (*run)(int n, char **words);
};

/* Parses the words behind the verb, which is argv[0], and runs it; returns the exit code. */
int verb_main(const struct cli_verb *verb, int argc, char **argv);
/*
 * Prints what can stand in the place of the last of n words, the first of which is the verb: lines
 * "WORD<tab>meaning", or ":files .roast", ":files", ":dirs".
 */
void verb_complete(const struct cli_verb *verb, int n, char **words);
/* Prints the word and its meaning, NULL if it has none, if it starts with what was typed. */
void verb_offer(const char *typed, const char *prefix, const char *word, const char *meaning);
