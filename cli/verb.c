/* Verbs and their options: parsing, --help, completion. See verb.h. */

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "verb.h"

#define OPTIONS_MAX 16
#define HELP_WIDTH  84

static const struct cli_option verb_help_option = { "help", 'h', NULL, "print this help" };

/* Option i of a verb: those it declares, then --help; NULL behind the last */
static const struct cli_option *verb_option(const struct cli_verb *verb, size_t i)
{
        size_t n = 0;

        while (verb->options && verb->options[n].name)
                n++;
        if (i < n)
                return &verb->options[i];
        return i == n ? &verb_help_option : NULL;
}

/* "text (default), json or csv" */
static void verb_list_choices(char *text, size_t size, const struct cli_option *option)
{
        size_t len = 0;

        text[0] = '\0';
        for (size_t i = 0; option->choices[i] && len < size; i++) {
                const char *gap = !option->choices[i + 1] ? " or " : ", ";
                const char *mark = len || !option->choice ? "" : " (default)";

                if (*option->choices[i]) /* an empty one stands for the default */
                        len += (size_t)snprintf(text + len, size - len, "%s%s%s", len ? gap : "",
                                                option->choices[i], mark);
        }
}

/* ---- help --------------------------------------------------------------------------------- */

static void verb_print_usage(const struct cli_verb *verb)
{
        int column = printf("Usage: roast %s %s", verb->name, verb->arguments);
        int indent = (int)strlen("Usage: roast ") + (int)strlen(verb->name);
        const struct cli_option *option;

        for (size_t i = 0; (option = verb_option(verb, i)) != &verb_help_option; i++) {
                char word[128], choices[96] = "";

                for (size_t k = 0; option->choice && option->choices[k]; k++) {
                        strncat(choices, k ? "|" : "", sizeof(choices) - strlen(choices) - 1);
                        strncat(choices, option->choices[k], sizeof(choices) - strlen(choices) - 1);
                }
                snprintf(word, sizeof(word), option->required ? "--%s%s%s" : "[--%s%s%s]",
                         option->name, option->value ? " " : "",
                         !option->value                           ? ""
                         : option->choice && strlen(choices) < 30 ? choices
                                                                  : option->value);
                if (column + 1 + (int)strlen(word) > HELP_WIDTH) {
                        printf("\n%*s", indent, "");
                        column = indent;
                }
                column += printf(" %s", word);
        }
        putchar('\n');
}

static int verb_label(char *label, size_t size, const struct cli_option *option)
{
        char letter[] = { '-', option->letter, ',', '\0' };

        return snprintf(label, size, "  %-3s --%s%s%s", option->letter ? letter : "", option->name,
                        option->value ? " " : "", option->value ? option->value : "");
}

static void verb_print_option(const struct cli_option *option, int width)
{
        char label[64], first[96], text[512], choices[160];

        verb_label(label, sizeof(label), option);
        snprintf(first, sizeof(first), "%-*s", width, label);
        if (option->choice) {
                verb_list_choices(choices, sizeof(choices), option);
                snprintf(text, sizeof(text), "%s: %s", option->help, choices);
        } else {
                snprintf(text, sizeof(text), "%s", option->help);
        }
        cli_print_words(first, text, HELP_WIDTH, width);
}

static void verb_print_help(const struct cli_verb *verb)
{
        const struct cli_option *option;
        char label[64];
        int width = 0;

        verb_print_usage(verb);
        printf("%s\n", verb->about);
        for (size_t i = 0; (option = verb_option(verb, i)); i++) {
                int len = verb_label(label, sizeof(label), option) + 2;

                width = len > width ? len : width;
        }
        for (size_t i = 0; (option = verb_option(verb, i)); i++)
                verb_print_option(option, width);
        if (verb->notes)
                printf("\n%s", verb->notes);
        if (verb->more_notes)
                verb->more_notes();
}

/* ---- parsing ------------------------------------------------------------------------------ */

/* What getopt_long(3) wants of the options */
static void verb_getopt(const struct cli_verb *verb, struct option known[static OPTIONS_MAX],
                        char letters[static 2 * OPTIONS_MAX])
{
        const struct cli_option *option;

        for (size_t i = 0; (option = verb_option(verb, i)) && i + 1 < OPTIONS_MAX; i++) {
                known[i] = (struct option){ option->name,
                                            option->value ? required_argument : no_argument, NULL,
                                            256 + (int)i };
                if (!option->letter)
                        continue;
                *letters++ = option->letter;
                if (option->value)
                        *letters++ = ':';
        }
        *letters = '\0';
}

static const struct cli_option *verb_find_letter(const struct cli_verb *verb, int letter)
{
        const struct cli_option *option;

        for (size_t i = 0; (option = verb_option(verb, i)); i++)
                if (option->letter && option->letter == letter)
                        return option;
        return NULL;
}

/* 0, or -1 after a message */
static int verb_take(const struct cli_verb *verb, const struct cli_option *option,
                     const char *value)
{
        int choice = option->choices && *value ? cli_choice(value, option->choices) : -1;
        char choices[256];

        if (option->choices && choice < 0) {
                verb_list_choices(choices, sizeof(choices), option);
                cli_fail(verb->name, "there is no %s '%s': choose %s", option->name, value,
                         choices);
                return -1;
        }
        if (option->flag)
                *option->flag = true;
        if (option->word)
                *option->word = value;
        if (option->choice)
                *option->choice = choice;
        return option->take ? option->take(value) : 0;
}

static int verb_check_count(const struct cli_verb *verb, int n)
{
        const char *name = verb->arguments + strspn(verb->arguments, "[");
        int len = (int)strcspn(name, " .]");

        if (n < verb->least)
                cli_fail(verb->name, n ? "missing another %.*s" : "missing %.*s", len, name);
        else if (verb->most && n > verb->most)
                cli_fail(verb->name, "too many arguments: %d, not %d", n, verb->most);
        else
                return EXIT_GOOD;
        return cli_usage(verb->name);
}

static int verb_check_required(const struct cli_verb *verb, unsigned int seen)
{
        const struct cli_option *option;

        for (size_t i = 0; (option = verb_option(verb, i)); i++)
                if (option->required && !(seen & 1u << i)) {
                        cli_fail(verb->name, "missing --%s %s", option->name, option->value);
                        return cli_usage(verb->name);
                }
        return EXIT_GOOD;
}

int verb_main(const struct cli_verb *verb, int argc, char **argv)
{
        struct option known[OPTIONS_MAX] = { 0 };
        char letters[2 * OPTIONS_MAX], name[32];
        unsigned int seen = 0;
        int c, code;

        snprintf(name, sizeof(name), "roast %s", verb->name);
        argv[0] = name; /* what getopt_long(3) calls us in its messages */
        if (verb->groups)
                cli_runs_divide(argc, argv);
        verb_getopt(verb, known, letters);
        while ((c = getopt_long(argc, argv, letters, known, NULL)) != -1) {
                const struct cli_option *option =
                        c >= 256 ? verb_option(verb, (size_t)c - 256) : verb_find_letter(verb, c);

                if (!option)
                        return cli_usage(verb->name);
                if (option == &verb_help_option) {
                        verb_print_help(verb);
                        return EXIT_GOOD;
                }
                if (verb_take(verb, option, optarg ? optarg : "") < 0)
                        return EXIT_CANNOT;
                seen |= 1u << (option - verb->options);
        }
        code = verb_check_count(verb, argc - optind);
        if (code == EXIT_GOOD)
                code = verb_check_required(verb, seen);
        return code == EXIT_GOOD ? verb->run(argc - optind, argv + optind) : code;
}

/* ---- completion --------------------------------------------------------------------------- */

void verb_offer(const char *typed, const char *prefix, const char *word, const char *meaning)
{
        char whole[256];

        snprintf(whole, sizeof(whole), "%s%s", prefix, word);
        if (strncmp(whole, typed, strlen(typed)) == 0)
                printf("%s\t%s\n", whole, meaning ? meaning : "");
}

/* The option that takes a value and is written so: -f, --format, --format= */
static const struct cli_option *verb_find_valued(const struct cli_verb *verb, const char *word)
{
        size_t len = strcspn(word, "=");
        const struct cli_option *option;

        for (size_t i = 0; (option = verb_option(verb, i)); i++) {
                if (!option->value)
                        continue;
                if (word[0] == '-' && option->letter && word[1] == option->letter && !word[2])
                        return option;
                if (len > 2 && !strncmp(word, "--", 2) && strlen(option->name) == len - 2 &&
                    !strncmp(word + 2, option->name, len - 2))
                        return option;
        }
        return NULL;
}

static void verb_offer_values(const struct cli_option *option, const char *typed,
                              const char *prefix)
{
        if (option->names_file)
                puts(":files");
        for (size_t i = 0; option->choices && option->choices[i]; i++)
                if (*option->choices[i])
                        verb_offer(typed, prefix, option->choices[i], NULL);
}

static void verb_offer_options(const struct cli_verb *verb, const char *typed)
{
        const struct cli_option *option;

        for (size_t i = 0; (option = verb_option(verb, i)); i++)
                verb_offer(typed, "--", option->name, option->help);
}

static void verb_offer_arguments(const struct cli_verb *verb, const char *typed)
{
        if (verb->complete)
                verb->complete(typed);
        else if (verb->completes && !strcmp(verb->completes, "/"))
                puts(":dirs");
        else if (verb->completes)
                printf(":files %s\n", verb->completes);
}

void verb_complete(const struct cli_verb *verb, int n, char **words)
{
        const char *typed = words[n - 1], *before = n > 2 ? words[n - 2] : "";
        const struct cli_option *option;
        char prefix[64] = "";

        /* bash makes three words of --format=json */
        if (!strcmp(typed, "=")) {
                typed = "";
        } else if (!strcmp(before, "=") && n > 3) {
                before = words[n - 3];
        } else if (!strncmp(typed, "--", 2) && strchr(typed, '=')) {
                before = typed;
                snprintf(prefix, sizeof(prefix), "%.*s=", (int)strcspn(typed, "="), typed);
        }
        option = verb_find_valued(verb, before);
        if (option)
                verb_offer_values(option, typed, prefix);
        else if (typed[0] == '-')
                verb_offer_options(verb, typed);
        else
                verb_offer_arguments(verb, typed);
}
