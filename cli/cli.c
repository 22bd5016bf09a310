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
        for (char *c = text; *c; c++)
                for (size_t n = utf8_control(c); n > 0; n--)
                        c[n - 1] = '?';
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
