/* Chunks that were recorded: see recorded.h. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/chunk.h"
#include "recorded.h"
#include "sample.h"
#include "util/cleanup.h"
#include "util/size.h"

static const char *const sections[] = { "muon selection", "dimuon mass", "jet kinematics",
                                        "histograms" };

static int64_t number(char **at)
{
        return strtoll(strsep(at, ","), NULL, 10);
}

/* The rest of a line, behind the number of the recording */
static int add_line(struct chunk_table *table, char *at)
{
        static const enum chunk_field fields[] = { CHUNK_WALL_NS,     CHUNK_CPU_NS,
                                                   CHUNK_RUNQUEUE_NS, CHUNK_THROTTLED_NS,
                                                   CHUNK_BLOCK_IO_NS, CHUNK_GIL_NS,
                                                   CHUNK_OTHER_NS,    CHUNK_REQUESTED_BYTES };
        int r = chunk_table_add(table);
        size_t row = table->n - 1;

        if (r >= 0)
                r = sample_set_text(table, CHUNK_DATASET, strsep(&at, ","));
        if (r >= 0)
                r = sample_set_text(table, CHUNK_FILE, strsep(&at, ","));
        if (r < 0)
                return r;
        chunk_table_set(table, row, CHUNK_ENTRY_START, number(&at));
        chunk_table_set(table, row, CHUNK_ENTRY_STOP, number(&at));
        chunk_table_set(table, row, CHUNK_NUM_EVENTS, number(&at));
        chunk_table_set(table, row, CHUNK_OUTCOME, CHUNK_FINISHED);
        r = sample_set_text(table, CHUNK_WORKER, strsep(&at, ","));
        chunk_table_set(table, row, CHUNK_START_UTC_NS, SAMPLE_START_UTC_NS + number(&at));
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(fields); i++)
                chunk_table_set(table, row, fields[i], number(&at));
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(sections) && r >= 0; i++)
                r = sample_add_section(table, sections[i], number(&at));
        return r;
}

int recorded_add(struct roast_run *run, int recording, struct roast_error *error)
{
        ROAST_CLEANUP(chunk_table_deinit) struct chunk_table table;
        ROAST_CLEANUP(buf_deinit) struct buf bytes = BUF_INIT;
        char path[4096], line[1024];
        FILE *file;
        int r = 0;

        chunk_table_init(&table);
        snprintf(path, sizeof(path), "%s/recorded-chunks.csv", getenv("ROAST_TEST_DATA"));
        file = fopen(path, "r");
        if (!file)
                return roast_fail(error, ROAST_E_NOENT, "%s cannot be opened", path);
        while (r >= 0 && fgets(line, sizeof(line), file)) {
                char *at = line, *which = strsep(&at, ",");

                if (*which == '0' + recording)
                        r = add_line(&table, at);
        }
        fclose(file);
        if (r >= 0)
                r = chunk_table_encode(&table, &bytes, error);
        if (r >= 0)
                r = roast_run_add_chunks(run, bytes.data, bytes.len, error);
        return r < 0 ? r : roast_run_commit(run, error);
}
