/* Runs to show: see shown.h. */

#include "unit.h"

#include <stdlib.h>

#include "shown.h"
#include "util/cleanup.h"
#include "util/size.h"

struct roast_run *shown_sample(void)
{
        struct roast_run *run;

        assert_int_equal(roast_run_create(&run, NULL, NULL), 0);
        assert_int_equal(sample_fill(run, 40, NULL), 0);
        return run;
}

struct roast_run *shown_empty(void)
{
        struct roast_run *run;

        assert_int_equal(roast_run_create(&run, NULL, NULL), 0);
        return run;
}

/* Names as nobody should have, but somebody will */
static const char *const hostile[] = {
        "a|b\\|c",
        "line\nbreak\r\n",
        "comma, \"quote\"",
        "\x1b[2J\x1b[31mred",
        "bad \xff utf-8 \xc3",
        "\xce\xbc\xce\xbc \xe4\xbd\xa0\xe5\xa5\xbd",
        "<script>alert(1)</script> *bold* `code` [link](x)",
        "",
        "=1+1",
        "%s%n\t",
};

struct roast_run *shown_hostile(void)
{
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;
        ROAST_CLEANUP(buf_deinit) struct buf bytes = BUF_INIT;
        int64_t values[SECTION_N_FIELDS] = { [SECTION_KIND] = SECTION_TIME, [SECTION_COUNT] = 1 };
        struct roast_run *run = shown_empty();

        chunk_table_init(&table);
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(hostile); i++) {
                size_t len = strlen(hostile[i]);

                assert_int_equal(chunk_table_add(&table), 0);
                chunk_table_set(&table, i, CHUNK_OUTCOME, CHUNK_FINISHED);
                chunk_table_set(&table, i, CHUNK_WALL_NS, (int64_t)(i + 1) * 1000);
                chunk_table_set(&table, i, CHUNK_NUM_EVENTS, (int64_t)i);
                assert_int_equal(chunk_table_set_text(&table, i, CHUNK_DATASET, hostile[i], len),
                                 0);
                values[SECTION_TOTAL_NS] = (int64_t)(100 - i) * 1000000;
                assert_int_equal(chunk_table_add_section(&table, hostile[i], len, values), 0);
                if (len) {
                        assert_int_equal(roast_run_fact_text(run, hostile[i], hostile[i], NULL), 0);
                        assert_int_equal(
                                roast_run_fact_absent(run, "report.entries", hostile[i], NULL), 0);
                }
        }
        assert_int_equal(chunk_table_encode(&table, &bytes, NULL), 0);
        assert_int_equal(roast_run_add_chunks(run, bytes.data, bytes.len, NULL),
                         (int)ROAST_ARRAY_SIZE(hostile));
        assert_int_equal(roast_run_commit(run, NULL), 0);
        return run;
}

void show(struct shown *shown, struct roast_run *run)
{
        shown->run = run;
        assert_int_equal(roast_summary_of_run(&shown->summary, run, NULL), 0);
        assert_int_equal(roast_tables_make(&shown->tables, &shown->summary, NULL), 0);
}

void shown_deinit(struct shown *shown)
{
        roast_tables_deinit(&shown->tables);
        roast_summary_deinit(&shown->summary);
        roast_run_free(shown->run);
}

int to_text(char **ret, const struct roast_table *table, struct roast_error *error)
{
        return roast_table_to_text(ret, table, &(struct roast_text_options){ 0 }, error);
}

int to_color(char **ret, const struct roast_table *table, struct roast_error *error)
{
        return roast_table_to_text(ret, table, &(struct roast_text_options){ true, 60 }, error);
}

char *all_tables(const struct shown *shown, to_string format)
{
        ROAST_CLEANUP(buf_deinit) struct buf out = BUF_INIT;

        for (size_t i = 0; i < shown->tables.n; i++) {
                ROAST_CLEANUP(cleanup_free) char *text = NULL;

                assert_int_equal(format(&text, &shown->tables.tables[i], NULL), 0);
                assert_int_equal(buf_printf(&out, "%s%s", i ? "\n" : "", text), 0);
        }
        return buf_release_string(&out);
}

char *to_json(const struct shown *shown)
{
        char *text = NULL;

        assert_int_equal(
                roast_show_to_json(&text, shown->run, &shown->summary, &shown->tables, NULL), 0);
        return text;
}
