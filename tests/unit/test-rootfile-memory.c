/* rootfile/: every allocation may fail, and the reader says so */

#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "alloc.h"
#include "roast-rootfile.h"
#include "roottree.h"
#include "util/cleanup.h"

static void test_any_allocation_that_fails_is_told_as_such(void **state)
{
        static const struct roottree tree = { .entries = 100 };
        static const struct roast_rootfile_view view = { .branches = true };
        struct roast_rootfile *file = NULL;
        struct buf object = BUF_INIT;
        struct roast_error error;
        struct maker maker;
        char path[64], *text = NULL;
        long failures = 0;
        int fd, r;

        (void)state;
        maker_init(&maker);
        roottree_put(&object, &tree);
        maker_object(&maker, "TTree", "t", 1, object.data, (uint32_t)object.len);
        maker_object(&maker, "TTree", "u", 1, object.data, (uint32_t)object.len);
        maker_finish(&maker);
        fd = memfd_create("made.root", MFD_CLOEXEC);
        assert_int_equal(write(fd, maker.file.data, maker.file.len), (ssize_t)maker.file.len);
        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        do {
                alloc_fail_after(failures++);
                r = roast_rootfile_open(&file, path, NULL, &error);
                if (r >= 0)
                        r = roast_rootfile_json(file, &view, &text, &error);
                if (r < 0)
                        assert_int_equal(r, ROAST_E_NOMEM);
                file = roast_rootfile_free(file);
        } while (alloc_failed());
        alloc_fail_after(-1);
        assert_true(failures > 10);
        assert_non_null(strstr(text, "\"u\""));
        free(text);
        buf_deinit(&object);
        maker_deinit(&maker);
        close(fd);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_any_allocation_that_fails_is_told_as_such),
        };

        return cmocka_run_group_tests_name("rootfile-memory", tests, NULL, NULL);
}
