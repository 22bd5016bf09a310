/*
 * Any bytes as a ROOT file
 *
 * For libFuzzer (clang -fsanitize=fuzzer) and AFL++ (afl-clang-fast with the
 * same option). The file lives in memory, behind a path that the reader opens
 * like any other.
 */

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "roast-rootfile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void read_all(struct roast_rootfile *file)
{
        static const char *const patterns[] = { "*a*" };
        struct roast_rootfile_view view = {
                .branches = true,
                .range = true,
                .start = 1,
                .stop = 1000,
                .patterns = patterns,
        };
        char *text = NULL;

        for (view.num_patterns = 0; view.num_patterns < 2; view.num_patterns++) {
                if (roast_rootfile_json(file, &view, &text, NULL) < 0)
                        abort();
                free(text);
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
        struct roast_rootfile *file = NULL;
        struct roast_error error;
        char path[64];
        int fd;

        fd = memfd_create("fuzz.root", MFD_CLOEXEC);
        if (fd < 0 || write(fd, data, len) != (ssize_t)len)
                abort();
        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        if (roast_rootfile_open(&file, path, NULL, &error) >= 0)
                read_all(file);
        roast_rootfile_free(file);
        close(fd);
        return 0;
}
