/* A directory for a test: see folder.h. */

#include "unit.h"

#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
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

void folder_put(const char *path, const char *data, size_t len)
{
        FILE *file = fopen(path, "w");

        assert_non_null(file);
        assert_int_equal(fwrite(data, 1, len, file), len);
        assert_int_equal(fclose(file), 0);
}

void folder_put_text(const char *path, const char *text)
{
        folder_put(path, text, strlen(text));
}

/* The C library allocates for itself, so that this is not among the calls that alloc.c counts. */
char *folder_text(const char *path)
{
        FILE *in = fopen(path, "r"), *out;
        char *text = NULL;
        size_t len;
        int c;

        if (!in)
                return NULL;
        out = open_memstream(&text, &len);
        assert_non_null(out);
        while ((c = getc(in)) != EOF)
                assert_int_equal(putc(c, out), c);
        assert_int_equal(fclose(out), 0);
        if (ferror(in) || strlen(text) != len) {
                free(text);
                text = NULL;
        }
        (void)fclose(in);
        return text;
}
