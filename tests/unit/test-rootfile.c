/* rootfile/: what a file says, and what a hostile file may not do */

#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "roast-rootfile.h"
#include "rootmaker.h"
#include "roottree.h"
#include "util/cleanup.h"

static const struct roottree healthy = { .entries = 100 };

static void filep_free(struct roast_rootfile **file)
{
        roast_rootfile_free(*file);
}

static int open_bytes(struct roast_rootfile **ret, const struct buf *bytes,
                      const struct roast_rootfile_options *options, struct roast_error *error)
{
        int fd = memfd_create("made.root", MFD_CLOEXEC), r;
        char path[64];

        assert_true(fd >= 0);
        assert_int_equal(write(fd, bytes->data, bytes->len), (ssize_t)bytes->len);
        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        r = roast_rootfile_open(ret, path, options, error);
        close(fd);
        return r;
}

static int open_made(struct roast_rootfile **ret, struct maker *maker, struct roast_error *error)
{
        maker_finish(maker);
        return open_bytes(ret, &maker->file, NULL, error);
}

static void add_tree(struct maker *maker, const char *name, int16_t cycle,
                     const struct roottree *tree)
{
        ROAST_CLEANUP(buf_deinit) struct buf object = BUF_INIT;

        roottree_put(&object, tree);
        maker_object(maker, "TTree", name, cycle, object.data, (uint32_t)object.len);
}

static void test_a_tree_is_read_with_its_branch(void **state)
{
        ROAST_CLEANUP(filep_free) struct roast_rootfile *file = NULL;
        ROAST_CLEANUP(maker_deinit) struct maker maker;
        const struct roast_root_branch *branch;
        const struct roast_root_tree *tree;

        (void)state;
        maker_init(&maker);
        add_tree(&maker, "t", 1, &healthy);
        assert_int_equal(open_made(&file, &maker, NULL), 0);
        assert_int_equal(file->num_trees, 1);
        tree = &file->trees[0];
        assert_string_equal(tree->path, "t");
        assert_string_equal(tree->title, "a tree");
        assert_true(tree->entries == 100);
        assert_int_equal(tree->num_clusters, 0);
        assert_int_equal(tree->num_branches, 1);
        branch = &tree->branches[0];
        assert_string_equal(branch->path, "x");
        assert_string_equal(branch->type, "float");
        assert_int_equal(branch->num_baskets, 0);
        assert_int_equal(file->num_skipped, 0);
}

static void test_the_highest_cycle_counts(void **state)
{
        static const struct roottree older = { .entries = 7 };
        ROAST_CLEANUP(filep_free) struct roast_rootfile *file = NULL;
        ROAST_CLEANUP(maker_deinit) struct maker maker;

        (void)state;
        maker_init(&maker);
        add_tree(&maker, "t", 3, &healthy);
        add_tree(&maker, "t", 1, &older);
        add_tree(&maker, "t", 2, &older);
        assert_int_equal(open_made(&file, &maker, NULL), 0);
        assert_int_equal(file->num_trees, 1);
        assert_int_equal(file->num_keys, 3);
        assert_int_equal(file->trees[0].cycle, 3);
        assert_true(file->trees[0].entries == 100);
        assert_int_equal(file->trees[0].num_other_cycles, 2);
        assert_int_equal(file->trees[0].other_cycles[0], 1);
        assert_int_equal(file->trees[0].other_cycles[1], 2);
}

static void test_a_file_without_trees_is_an_answer(void **state)
{
        ROAST_CLEANUP(filep_free) struct roast_rootfile *file = NULL;
        ROAST_CLEANUP(maker_deinit) struct maker maker;

        (void)state;
        maker_init(&maker);
        maker_object(&maker, "TH1F", "h", 1, "", 0);
        assert_int_equal(open_made(&file, &maker, NULL), 0);
        assert_int_equal(file->num_trees, 0);
        assert_int_equal(file->num_classes, 1);
        assert_string_equal(file->classes[0].name, "TH1F");
}

static void test_directories_that_form_a_loop_are_visited_once(void **state)
{
        ROAST_CLEANUP(filep_free) struct roast_rootfile *file = NULL;
        ROAST_CLEANUP(maker_deinit) struct maker maker;

        (void)state;
        maker_init(&maker);
        /* a key whose directory record is the top directory: 35 bytes of key before it */
        maker_key(&maker, "TDirectory", "d", 1, maker.directory_at - (26 + 3 + 10 + 1), 0, 0);
        add_tree(&maker, "t", 1, &healthy);
        assert_int_equal(open_made(&file, &maker, NULL), 0);
        assert_int_equal(file->num_trees, 1);
        assert_int_equal(file->num_skipped, 1);
        assert_string_equal(file->skipped[0].path, "d");
        assert_string_equal(file->skipped[0].reason, "directories form a loop");
}

static void test_versions_that_are_not_known_are_skipped_and_named(void **state)
{
        static const struct roottree newer = { .tree_version = 21, .entries = 1 };
        static const struct roottree newer_branch = { .branch_version = 14, .entries = 1 };
        ROAST_CLEANUP(filep_free) struct roast_rootfile *file = NULL;
        ROAST_CLEANUP(maker_deinit) struct maker maker;

        (void)state;
        maker_init(&maker);
        add_tree(&maker, "newer", 1, &newer);
        add_tree(&maker, "branch", 1, &newer_branch);
        add_tree(&maker, "t", 1, &healthy);
        assert_int_equal(open_made(&file, &maker, NULL), 0);
        assert_int_equal(file->num_trees, 2);
        assert_string_equal(file->trees[0].path, "branch");
        assert_int_equal(file->trees[0].num_branches, 0);
        assert_int_equal(file->trees[1].num_branches, 1);
        assert_int_equal(file->num_skipped, 2);
        assert_string_equal(file->skipped[0].reason, "TTree version 21 is not known");
        assert_int_equal(file->skipped[0].code, ROAST_E_VERSION);
        assert_string_equal(file->skipped[1].path, "branch");
        assert_string_equal(file->skipped[1].what, "TBranch");
}

static void test_what_was_skipped_of_a_damaged_tree_goes_with_it(void **state)
{
        static const struct roottree both = { .branch_version = 14,
                                              .entries = 1,
                                              .missing_branches = 1 };
        ROAST_CLEANUP(filep_free) struct roast_rootfile *file = NULL;
        ROAST_CLEANUP(maker_deinit) struct maker maker;

        (void)state;
        maker_init(&maker);
        add_tree(&maker, "both", 1, &both);
        add_tree(&maker, "t", 1, &healthy);
        assert_int_equal(open_made(&file, &maker, NULL), 0);
        assert_int_equal(file->num_skipped, 1);
        assert_string_equal(file->skipped[0].path, "both");
        assert_string_equal(file->skipped[0].what, "TTree");
        assert_string_equal(file->skipped[0].reason, "its list of branches is damaged");
}

static void test_a_file_that_was_cut_off_says_so(void **state)
{
        ROAST_CLEANUP(filep_free) struct roast_rootfile *file = NULL;
        ROAST_CLEANUP(maker_deinit) struct maker maker;

        (void)state;
        maker_init(&maker);
        add_tree(&maker, "t", 1, &healthy);
        maker.missing_bytes = 10;
        assert_int_equal(open_made(&file, &maker, NULL), 0);
        assert_int_equal(file->num_trees, 1);
        assert_int_equal(file->num_skipped, 1);
        assert_string_equal(file->skipped[0].what, "TFile");
}

static void test_a_damaged_tree_does_not_hide_the_healthy_one(void **state)
{
        static const struct roottree huge = { .entries = 1, .max_baskets = INT32_MAX };
        static const struct roottree negative = { .entries = 1, .max_baskets = -1 };
        ROAST_CLEANUP(filep_free) struct roast_rootfile *file = NULL;
        ROAST_CLEANUP(maker_deinit) struct maker maker;

        (void)state;
        maker_init(&maker);
        maker_object(&maker, "TTree", "noise", 1, "\x40\xff\xff\xff noise", 10);
        add_tree(&maker, "huge", 1, &huge);
        add_tree(&maker, "negative", 1, &negative);
        maker_key(&maker, "TTree", "behind", 1, 0x7fffff00, 1000, 1000);
        maker_key(&maker, "ROOT::RNTuple", "ntuple", 1, 200, 20, 20);
        add_tree(&maker, "t", 1, &healthy);
        assert_int_equal(open_made(&file, &maker, NULL), 0);
        assert_int_equal(file->num_trees, 1);
        assert_string_equal(file->trees[0].path, "t");
        assert_int_equal(file->num_skipped, 5);
}

static void test_bombs_are_bounded_by_what_a_file_may_declare(void **state)
{
        ROAST_CLEANUP(filep_free) struct roast_rootfile *file = NULL;
        ROAST_CLEANUP(maker_deinit) struct maker maker;

        (void)state;
        maker_init(&maker);
        for (int16_t i = 1; i <= 20; i++) {
                char name[16];

                snprintf(name, sizeof(name), "bomb%d", i);
                maker_key(&maker, "TTree", name, i, 100, 100, INT32_MAX - 200);
        }
        add_tree(&maker, "t", 1, &healthy);
        assert_int_equal(open_made(&file, &maker, NULL), 0);
        assert_int_equal(file->num_trees, 1);
        assert_int_equal(file->num_skipped, 20);
}

static void test_a_file_whose_only_tree_is_damaged_is_refused(void **state)
{
        ROAST_CLEANUP(filep_free) struct roast_rootfile *file = NULL;
        ROAST_CLEANUP(maker_deinit) struct maker maker;
        struct roast_error error = { 0 };

        (void)state;
        maker_init(&maker);
        maker_object(&maker, "TTree", "t", 1, "noise", 5);
        assert_int_equal(open_made(&file, &maker, &error), ROAST_E_CORRUPT);
        assert_has(error.message, "\"t\"");
}

static void test_baskets_that_are_not_there_are_counted_as_unknown(void **state)
{
        static const struct roottree lost = { .entries = 100, .seek = 50 };
        ROAST_CLEANUP(filep_free) struct roast_rootfile *file = NULL;
        ROAST_CLEANUP(maker_deinit) struct maker maker;
        struct roast_root_hint hints[ROAST_ROOT_HINTS_MAX];

        (void)state;
        maker_init(&maker);
        add_tree(&maker, "t", 1, &lost);
        assert_int_equal(open_made(&file, &maker, NULL), 0);
        assert_int_equal(file->trees[0].num_baskets, 1);
        assert_int_equal(file->trees[0].algorithms.of[ROAST_ROOT_UNKNOWN], 1);
        assert_true(file->trees[0].compressed_bytes == 100);
        assert_int_equal(roast_root_tree_hints(&file->trees[0], hints), 1);
        assert_string_equal(hints[0].name, "not-found");
}

static void test_baskets_are_not_looked_at_if_not_wanted(void **state)
{
        static const struct roottree lost = { .entries = 100, .seek = 50 };
        static const struct roast_rootfile_options options = { .without_algorithms = true };
        static const struct roast_root_counts none = { { 0 } };
        ROAST_CLEANUP(filep_free) struct roast_rootfile *file = NULL;
        ROAST_CLEANUP(maker_deinit) struct maker maker;

        (void)state;
        maker_init(&maker);
        add_tree(&maker, "t", 1, &lost);
        maker_finish(&maker);
        assert_int_equal(open_bytes(&file, &maker.file, &options, NULL), 0);
        assert_true(file->trees[0].compressed_bytes == 100);
        assert_memory_equal(&file->trees[0].algorithms, &none, sizeof(none));
}

static uint32_t random_next(uint32_t *state) /* xorshift32, Marsaglia 2003 */
{
        *state ^= *state << 13;
        *state ^= *state >> 17;
        *state ^= *state << 5;
        return *state;
}

static void test_noise_is_refused_or_read(void **state)
{
        static const struct roottree tree = { .entries = 100, .seek = 300 };
        static const struct roast_rootfile_view view = { .branches = true, .range = true };
        ROAST_CLEANUP(maker_deinit) struct maker maker;
        uint32_t random = 20250101;

        (void)state;
        maker_init(&maker);
        add_tree(&maker, "t", 1, &tree);
        add_tree(&maker, "u", 1, &healthy);
        maker_finish(&maker);
        for (int i = 0; i < 20000; i++) {
                ROAST_CLEANUP(filep_free) struct roast_rootfile *file = NULL;
                ROAST_CLEANUP(cleanup_free) char *text = NULL;
                ROAST_CLEANUP(buf_deinit) struct buf noisy = BUF_INIT;

                assert_int_equal(buf_append(&noisy, maker.file.data, maker.file.len), 0);
                for (uint32_t k = random_next(&random) % 4; k < 4; k++)
                        noisy.data[random_next(&random) % noisy.len] =
                                (uint8_t)random_next(&random);
                if (open_bytes(&file, &noisy, NULL, NULL) >= 0)
                        assert_int_equal(roast_rootfile_json(file, &view, &text, NULL), 0);
        }
}

static void test_other_things_are_refused_with_their_reason(void **state)
{
        struct roast_rootfile *file = NULL;
        struct roast_error error;

        (void)state;
        assert_int_equal(roast_rootfile_open(&file, "/nowhere/x.root", NULL, &error),
                         ROAST_E_NOENT);
        assert_int_equal(roast_rootfile_open(&file, "/", NULL, &error), ROAST_E_FORMAT);
        assert_string_equal(error.message, "not a regular file");
        assert_int_equal(roast_rootfile_open(&file, "/proc/self/exe", NULL, &error),
                         ROAST_E_FORMAT);
        assert_string_equal(error.message, "not a ROOT file");
        assert_null(file);
}

static void test_a_range_takes_the_baskets_that_overlap(void **state)
{
        static const struct roast_root_basket baskets[] = {
                { .first_entry = 0, .seek = 1, .bytes = 10 },
                { .first_entry = 50, .seek = 2, .bytes = 20 },
                { .first_entry = 50, .seek = 3, .bytes = 40 }, /* the one before is empty */
                { .first_entry = 90, .seek = 0, .bytes = 80 }, /* embedded */
        };
        static const struct roast_root_branch branch = {
                .baskets = baskets, .num_baskets = 4, .num_embedded = 1, .end_entry = 100
        };
        struct roast_root_need need = { 0 };

        (void)state;
        roast_root_branch_need(&branch, 0, 50, &need);
        assert_true(need.bytes == 10 && need.units == 1 && need.embedded == 0);
        roast_root_branch_need(&branch, 49, 51, &need);
        assert_true(need.bytes == 10 + 10 + 20 + 40 && need.units == 4);
        need = (struct roast_root_need){ 0 };
        roast_root_branch_need(&branch, 89, 1000, &need);
        assert_true(need.bytes == 40 && need.units == 1 && need.embedded == 1);
        need = (struct roast_root_need){ 0 };
        roast_root_branch_need(&branch, 100, 200, &need);
        assert_true(need.bytes == 0 && need.units == 0 && need.embedded == 0);
}

static void test_branches_gather_in_collections_by_name(void **state)
{
        static const struct roast_root_branch branches[] = {
                { .path = "nJet", .compressed_bytes = 1 },
                { .path = "Jet_pt", .compressed_bytes = 2 },
                { .path = "event", .compressed_bytes = 100 },
                { .path = "Jet_eta", .compressed_bytes = 3 },
                { .path = "Muons/Muons.pt", .compressed_bytes = 4 },
                { .path = "_collection7._0.Jet_mass", .compressed_bytes = 4 },
                { .path = "_0", .compressed_bytes = 0 },
        };
        static const struct roast_root_tree tree = { .branches = branches, .num_branches = 7 };
        struct roast_root_collection *list;
        size_t n;

        (void)state;
        assert_int_equal(roast_root_tree_collections(&tree, &list, &n), 0);
        assert_int_equal(n, 4);
        assert_string_equal(list[0].name, "event");
        assert_string_equal(list[1].name, "Jet");
        assert_int_equal(list[1].members, 4);
        assert_true(list[1].compressed_bytes == 10);
        assert_string_equal(list[2].name, "Muons");
        assert_string_equal(list[3].name, "_0");
        roast_root_collections_free(list, n);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_a_tree_is_read_with_its_branch),
                cmocka_unit_test(test_the_highest_cycle_counts),
                cmocka_unit_test(test_a_file_without_trees_is_an_answer),
                cmocka_unit_test(test_directories_that_form_a_loop_are_visited_once),
                cmocka_unit_test(test_versions_that_are_not_known_are_skipped_and_named),
                cmocka_unit_test(test_what_was_skipped_of_a_damaged_tree_goes_with_it),
                cmocka_unit_test(test_a_file_that_was_cut_off_says_so),
                cmocka_unit_test(test_a_damaged_tree_does_not_hide_the_healthy_one),
                cmocka_unit_test(test_bombs_are_bounded_by_what_a_file_may_declare),
                cmocka_unit_test(test_a_file_whose_only_tree_is_damaged_is_refused),
                cmocka_unit_test(test_baskets_that_are_not_there_are_counted_as_unknown),
                cmocka_unit_test(test_baskets_are_not_looked_at_if_not_wanted),
                cmocka_unit_test(test_noise_is_refused_or_read),
                cmocka_unit_test(test_other_things_are_refused_with_their_reason),
                cmocka_unit_test(test_a_range_takes_the_baskets_that_overlap),
                cmocka_unit_test(test_branches_gather_in_collections_by_name),
        };

        return cmocka_run_group_tests_name("rootfile", tests, NULL, NULL);
}
