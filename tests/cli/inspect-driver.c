/* `roast inspect` alone, as an executable for its tests. */

#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"

int cli_fail(const char *verb, const char *format, ...)
{
        va_list args;

        fprintf(stderr, "roast %s: ", verb);
        va_start(args, format);
        vfprintf(stderr, format, args);
        va_end(args);
        fputc('\n', stderr);
        return EXIT_CANNOT;
}

int main(int argc, char **argv)
{
        setlocale(LC_ALL, "");
        if (argc < 2 || strcmp(argv[1], "inspect") != 0)
                return cli_fail("", "only inspect is here");
        return verb_inspect(argc - 1, argv + 1);
}
