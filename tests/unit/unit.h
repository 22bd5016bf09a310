#pragma once
/* What every cmocka test needs, in the order that cmocka wants it. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* A text has these words in it, or has them not; both are shown if that is not so. */
#define assert_has(text, words)                                                                    \
        do {                                                                                       \
                const char *text_ = (text), *words_ = (words);                                     \
                                                                                                   \
                if (!strstr(text_, words_))                                                        \
                        fail_msg("%s is not in\n%s", words_, text_);                               \
        } while (0)
#define assert_has_not(text, words)                                                                \
        do {                                                                                       \
                const char *text_ = (text), *words_ = (words);                                     \
                                                                                                   \
                if (strstr(text_, words_))                                                         \
                        fail_msg("%s is in\n%s", words_, text_);                                   \
        } while (0)
