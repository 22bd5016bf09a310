#pragma once
/* UTF-8, as far as a writer of text must know it. */

#include <stddef.h>
#include <stdint.h>

/*
 * Length in bytes (1 to 4) of the well-formed character that starts at `at`,
 * or 0 if there is none (overlong forms, surrogates and cut-off characters
 * are not well-formed).
 */
size_t utf8_length(const uint8_t *at, size_t left);

/* Bytes of the control character (C0, delete, C1) that a C string begins with, or 0 */
size_t utf8_control(const char *at);
