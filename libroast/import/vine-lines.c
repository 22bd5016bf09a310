/* Lines, words and numbers of TaskVine's logs: see vine.h. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "import/vine.h"

size_t vine_line(FILE *in, char line[static VINE_LINE_MAX])
{
        size_t n = 0;
        int c = getc_unlocked(in);

        if (c == EOF)
                return 0;
        for (; c != EOF && c != '\n'; c = getc_unlocked(in))
                if (n < VINE_LINE_MAX - 2)
                        line[n++] = c ? (char)c : ' ';
        if (n == 0) /* an empty line is a line */
                line[n++] = ' ';
        line[n] = '\0';
        return n;
}

char *vine_word(char **at)
{
        char *word = *at + strspn(*at, " \t\r");
        char *end = word + strcspn(word, " \t\r");

        *at = *end ? end + 1 : end;
        *end = '\0';
        return word;
}

int64_t vine_number(const char *word)
{
        char *end;
        long long value;

        if (word[0] < '0' || word[0] > '9')
                return -1;
        errno = 0;
        value = strtoll(word, &end, 10);
        return errno || *end ? -1 : value;
}
