#pragma once
/* Small differences between platforms, for all but probe/, which has platform.h */

#include <stdbool.h>

#ifdef __linux__
#include <endian.h>
#else
#include <sys/endian.h>
#endif

/*
 * Whether a file is on a network's file system, on which shared memory between processes does not
 * work; false where that cannot be known.
 */
bool compat_on_network(const char *path);
