/* show/: what is not known of a section or a dataset is absent, and not zero */

#include "unit.h"

#include <stdlib.h>

#include "metrics/chunk-stats.h"
#include "record/chunk.h"
#include "roast-show.h"
#include "sample.h"
#include "util/cleanup.h"
#include "util/size.h"

static struct roast_section sections[] = {
        { .name = (char *)"timed", .kind = SECTION_TIME, .chunks = 2, .count = 2 },
        { .name = (char *)"grown",
          .kind = SECTION_MEMORY,
          .chunks = 1,
          .count = 1,
          .memory_chunks = 1,
          .rss_delta_bytes = 5e6 },
        { .name = (char *)"both", .kind = SECTION_MEMORY, .count = 3, .total_s = 4 },
        { .name = (char *)"read",
          .kind = SECTION_BYTES_READ,
          .count = 1,
          .bytes_chunks = 1,
          .bytes = 7 },
        { .name = (char *)"silent", .kind = SECTION_MEMORY | SECTION_BYTES_READ, .count = 1 },
};

static struct roast_dataset datasets[] = {
        { .name = (char *)"known",
          .finished = 4,
          .events = 10,
          .wall_chunks = 2,
          .wall_events = 5,
          .wall_s = 6,
          .cpu_chunks = 4,
          .bytes_chunks = 4 },
        { .name = (char *)"unknown", .finished = 4, .events = 10 },
};

static const struct roast_cell *find_row(const struct roast_table *table, const char *name)
{
        for (size_t i = 0; i < table->n_rows; i++) {
                const struct roast_cell *cells = table->cells + i * table->n_columns;

                if (cells[0].text && strstr(cells[0].text, name))
                        return cells;
        }
        fail_msg("there is no row %s", name);
        return NULL;
}

static void make(struct roast_table *table, const char *name)
{
        const struct roast_summary summary = {
                .sections = sections,
                .n_sections = ROAST_ARRAY_SIZE(sections),
                .datasets = datasets,
                .n_datasets = ROAST_ARRAY_SIZE(datasets),
                .metrics.values[ROAST_NUM_CHUNKS] = { .state = ROAST_KNOWN, .count = 8, .real = 8 }
        };

        assert_int_equal(roast_table_make(table, name, &summary, NULL), 0);
}

static void assert_times(const struct roast_cell *cells, enum roast_cell_type type)
{
        for (size_t i = 3; i <= 6; i++)
                assert_int_equal(cells[i].type, type);
}

static void test_a_section_without_a_time_shows_none(void **state)
{
        ROAST_CLEANUP(roast_table_deinit) struct roast_table table = { 0 };

        (void)state;
        make(&table, "sections");
        assert_times(find_row(&table, "timed"), ROAST_CELL_REAL);
        assert_times(find_row(&table, "grown"), ROAST_CELL_EMPTY);
        assert_times(find_row(&table, "read"), ROAST_CELL_EMPTY);
}

static void test_the_time_of_a_section_itself_is_known_where_time_was_tracked(void **state)
{
        ROAST_CLEANUP(roast_table_deinit) struct roast_table table = { 0 };

        (void)state;
        make(&table, "sections");
        assert_int_equal(find_row(&table, "both")[3].type, ROAST_CELL_REAL);
        assert_int_equal(find_row(&table, "both")[4].type, ROAST_CELL_EMPTY);
}

static void test_a_section_shows_the_memory_and_bytes_that_chunks_tell(void **state)
{
        ROAST_CLEANUP(roast_table_deinit) struct roast_table table = { 0 };

        (void)state;
        make(&table, "sections");
        assert_string_equal(find_row(&table, "grown")[7].text, "5.00 MB");
        assert_string_equal(find_row(&table, "read")[8].text, "7 B");
        assert_int_equal(find_row(&table, "silent")[7].type, ROAST_CELL_EMPTY);
        assert_int_equal(find_row(&table, "silent")[8].type, ROAST_CELL_EMPTY);
}

static void test_the_list_of_sections_says_only_what_is_known(void **state)
{
        ROAST_CLEANUP(roast_table_deinit) struct roast_table table = { 0 };

        (void)state;
        make(&table, "chunks");
        assert_string_equal(find_row(&table, "timed")[1].text, "0.0s (2x)");
        assert_string_equal(find_row(&table, "grown")[1].text, "1x, 5.00 MB avg");
        assert_string_equal(find_row(&table, "both")[1].text, "4.0s (3x)");
        assert_string_equal(find_row(&table, "read")[1].text, "1x");
}

static void test_a_dataset_shows_what_its_chunks_tell(void **state)
{
        static const unsigned int measured[] = { 4, 5, 6, 7 }; /* wall, CPU, bytes, per event */
        ROAST_CLEANUP(roast_table_deinit) struct roast_table table = { 0 };

        (void)state;
        make(&table, "datasets");
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(measured); i++) {
                assert_int_not_equal(find_row(&table, "known")[measured[i]].type, ROAST_CELL_EMPTY);
                assert_int_equal(find_row(&table, "unknown")[measured[i]].type, ROAST_CELL_EMPTY);
        }
}

static void test_time_per_event_is_over_the_events_whose_time_is_known(void **state)
{
        ROAST_CLEANUP(roast_table_deinit) struct roast_table table = { 0 };

        (void)state;
        make(&table, "datasets");
        assert_true(find_row(&table, "known")[7].real == 1.2e6);
}

static void test_a_mean_is_over_the_chunks_whose_time_is_known(void **state)
{
        ROAST_CLEANUP(roast_table_deinit) struct roast_table table = { 0 };

        (void)state;
        make(&table, "chunks");
        assert_string_equal(find_row(&table, "known")[1].text, "4 chunks, 3.0s avg");
        assert_string_equal(find_row(&table, "unknown")[1].text, "4 chunks, no time");
}

static void test_a_branch_without_a_size_is_not_in_its_file_if_others_have_theirs(void **state)
{
        struct roast_branch branches[] = { { .name = (char *)"Jet_pt", .chunks = 1 },
                                           { .name = (char *)"Jet_eta", .chunks = 1 } };
        const struct roast_summary summary = { .branches = branches, .n_branches = 2 };

        (void)state;
        for (int told = 0; told < 2; told++) {
                ROAST_CLEANUP(roast_table_deinit) struct roast_table table = { 0 };

                branches[0].needed.chunks = told;
                assert_int_equal(roast_table_make(&table, "branches", &summary, NULL), 0);
                assert_has(find_row(&table, "Jet_eta")[2].text,
                           told ? "not in its file" : "no chunk tells it");
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_a_section_without_a_time_shows_none),
                cmocka_unit_test(test_the_time_of_a_section_itself_is_known_where_time_was_tracked),
                cmocka_unit_test(test_a_section_shows_the_memory_and_bytes_that_chunks_tell),
                cmocka_unit_test(test_the_list_of_sections_says_only_what_is_known),
                cmocka_unit_test(test_a_dataset_shows_what_its_chunks_tell),
                cmocka_unit_test(test_time_per_event_is_over_the_events_whose_time_is_known),
                cmocka_unit_test(
                        test_a_branch_without_a_size_is_not_in_its_file_if_others_have_theirs),
                cmocka_unit_test(test_a_mean_is_over_the_chunks_whose_time_is_known),
        };

        return cmocka_run_group_tests_name("show-absent", tests, NULL, NULL);
}
