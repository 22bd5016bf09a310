/* A directory for a test: see folder.h. */

#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "folder.h"

int folder_make(void **state)
{
        const char *parent = getenv("TMPDIR");
        char *path;

        if (!parent) /* in memory where possible: syncs cost nothing there */
                parent = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
        if (asprintf(&path, "%s/roast-test-XXXXXX", parent) < 0)
                return -1;
        if (!mkdtemp(path)) {
                free(path);
                return -1;
        }
        *state = path;
        return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
        (void)st;
        (void)type;
        (void)ftw;
        return remove(path);
}

int folder_remove(void **state)
{
        int r;

        chmod(*state, 0700);
        r = nftw(*state, remove_one, 8, FTW_DEPTH | FTW_PHYS);
        free(*state);
        return r;
}

const char *folder_path(void **state, const char *name)
{
        static char paths[4][PATH_MAX];
        static unsigned int turn;
        char *path = paths[turn++ % 4];

        snprintf(path, PATH_MAX, "%s/%s", (const char *)*state, name);
        return path;
}
