/* What the verbs share: messages, the terminal */

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli.h"
#include "util/utf8.h"

int cli_fail(const char *verb, const char *format, ...)
{
        char message[1024];
        va_list args;

        fflush(stdout);
        va_start(args, format);
        vsnprintf(message, sizeof(message), format, args);
        va_end(args);
        fprintf(stderr, "roast %s: %s\n", verb, cli_clean(message));
        return EXIT_CANNOT;
}

int cli_usage(const char *verb)
{
        fprintf(stderr, "Try 'roast %s --help'.\n", verb);
        return EXIT_CANNOT;
}

bool cli_color(void)
{
        const char *no_color = getenv("NO_COLOR"), *terminal = getenv("TERM");

        return isatty(STDOUT_FILENO) && !(no_color && *no_color) &&
               !(terminal && !strcmp(terminal, "dumb"));
}

size_t cli_width(void)
{
        struct winsize size;

        if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0)
                return 0;
        return size.ws_col;
}

int cli_choice(const char *word, const char *const *choices)
{
        for (int i = 0; choices[i]; i++)
                if (!strcmp(word, choices[i]))
                        return i;
        return -1;
}

char *cli_clean(char *text)
{
        size_t left = strlen(text), len;

        for (char *c = text; left > 0; c += len, left -= len) {
                len = utf8_length((const uint8_t *)c, left);
                if (len == 0 || utf8_control(c)) {
                        len = len ? len : 1;
                        memset(c, '?', len);
                }
        }
        return text;
}

void cli_print_words(const char *first, const char *text, size_t width, int indent)
{
        size_t column = strlen(first);
        const char *gap = "";

        fputs(first, stdout);
        while (*text) {
                size_t len = strcspn(text, " ");

                if (width && *gap && column + 1 + len > width) {
                        printf("\n%*s", indent, "");
                        column = (size_t)indent;
                        gap = "";
                }
                printf("%s%.*s", gap, (int)len, text);
                column += strlen(gap) + len;
                gap = " ";
                text += len;
                text += strspn(text, " ");
        }
        putchar('\n');
}

int cli_print(const char *verb, char *text)
{
        int failed = fputs(text, stdout) < 0 || fflush(stdout) < 0;

        free(text);
        return failed ? cli_fail(verb, "cannot write: %s", strerror(errno)) : EXIT_GOOD;
}

int cli_format(const char *verb, const char *word, enum cli_format *format)
{
        static const char *const words[] = { "text", "json", "csv", "markdown", NULL };
        int choice = cli_choice(word, words);

        if (choice < 0) {
                cli_fail(verb, "there is no format '%s': text, json, csv or markdown", word);
                return -1;
        }
        *format = (enum cli_format)choice;
        return 0;
}

int cli_prose_format(const char *verb, const char *word, enum cli_format *format)
{
        static const char *const words[] = { "text", "json", "markdown", NULL };
        static const enum cli_format formats[] = { CLI_TEXT, CLI_JSON, CLI_MARKDOWN };
        int choice = cli_choice(word, words);

        if (choice < 0) {
                cli_fail(verb, "there is no format '%s': text, json or markdown", word);
                return -1;
        }
        *format = formats[choice];
        return 0;
}

int cli_print_table(const char *verb, const struct roast_table *table, enum cli_format format)
{
        return cli_print_table_part(verb, table, format, 0);
}

int cli_print_tables(const char *verb, const struct roast_tables *tables, enum cli_format format)
{
        bool first = true;

        for (size_t i = 0; i < tables->n; i++) {
                const struct roast_table *table = &tables->tables[i];
                int code;

                if (!table->n_rows)
                        continue;
                if (!first)
                        putchar('\n');
                first = false;
                if (format == CLI_CSV)
                        printf("# %s\n", table->name);
                code = cli_print_table(verb, table, format);
                if (code != EXIT_GOOD)
                        return code;
        }
        return EXIT_GOOD;
}

int cli_print_table_part(const char *verb, const struct roast_table *table, enum cli_format format,
                         size_t rows)
{
        const struct roast_text_options options = { .color = cli_color(),
                                                    .width = cli_width(),
                                                    .rows = rows };
        struct roast_error error = { 0 };
        char *text = NULL;
        int r = 0;

        switch (format) {
        case CLI_TEXT:
                r = roast_table_to_text(&text, table, &options, &error);
                break;
        case CLI_JSON:
                r = roast_table_to_json(&text, table, &error);
                break;
        case CLI_CSV:
                r = roast_table_to_csv(&text, table, &error);
                break;
        case CLI_MARKDOWN:
                r = roast_table_to_markdown(&text, table, &error);
                break;
        }
        return r < 0 ? cli_fail(verb, "%s", error.message) : cli_print(verb, text);
}
