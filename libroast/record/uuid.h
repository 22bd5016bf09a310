#pragma once
/* UUIDs as 16 bytes: half of what they take as text, and text of them does not compress */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UUID_TEXT 36

/* False: not 8-4-4-4-12 lower-case digits, which would not come back as they were. */
bool uuid_pack(const char *text, size_t len, uint8_t bytes[16]);
void uuid_unpack(const uint8_t bytes[16], char text[UUID_TEXT]);
