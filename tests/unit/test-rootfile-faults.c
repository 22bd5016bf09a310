/* rootfile/: a file of which any read may fail, and every allocation */

#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "plans.h"
#include "roast-rootfile.h"
#include "roottree.h"
#include "util/cleanup.h"

static int ask(struct buf *out, const char *path, struct roast_error *error)
{
        static const struct roast_rootfile_view view = { .branches = true };
        struct roast_rootfile *file = NULL;
        ROAST_CLEANUP(cleanup_free) char *text = NULL;
        int r = roast_rootfile_open(&file, path, NULL, error);

        if (r >= 0 && file->num_skipped) /* the rest is told; that it is not all is the answer */
                r = roast_fail(error, file->skipped[0].code, "%s", file->skipped[0].reason);
        if (r >= 0)
                r = roast_rootfile_json(file, &view, &text, error);
        if (r >= 0 && buf_puts(out, text) < 0)
                r = roast_fail_nomem(error);
        roast_rootfile_free(file);
        return r;
}

static void play(const struct maker *maker)
{
        int fd = memfd_create("made.root", MFD_CLOEXEC);
        char path[64];

        assert_int_equal(write(fd, maker->file.data, maker->file.len), (ssize_t)maker->file.len);
        (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        plans_play(ask, path);
        close(fd);
}

static void test_trees(void **state)
{
        static const struct roottree tree = { .entries = 100 };
        struct buf object = BUF_INIT;
        struct maker maker;

        (void)state;
        maker_init(&maker);
        roottree_put(&object, &tree);
        maker_object(&maker, "TTree", "t", 1, object.data, (uint32_t)object.len);
        maker_object(&maker, "TTree", "u", 1, object.data, (uint32_t)object.len);
        maker_finish(&maker);
        play(&maker);
        buf_deinit(&object);
        maker_deinit(&maker);
}

/* Files with baskets and pages, which the made one has not */
static void play_stored(const char *name)
{
        const char *seeds = getenv("ROAST_TEST_SEEDS");
        char path[4096];

        assert_non_null(seeds);
        (void)snprintf(path, sizeof(path), "%s/rootfile/%s", seeds, name);
        plans_play(ask, path);
}

static void test_a_stored_tree(void **state)
{
        (void)state;
        play_stored("tree");
}

static void test_a_stored_ntuple(void **state)
{
        (void)state;
        play_stored("ntuple");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_trees),
                cmocka_unit_test(test_a_stored_tree),
                cmocka_unit_test(test_a_stored_ntuple),
        };

        return cmocka_run_group_tests_name("rootfile-faults", tests, NULL, NULL);
}
