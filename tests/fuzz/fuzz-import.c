/*
 * Measurements of format v1 from any bytes
 *
 * The input is the metrics.json of a measurement: opening it gives an error with
 * a message, or a run that passes its checks, has a summary and is exported as
 * valid JSON.
 */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "roast-export.h"
#include "roast-metrics.h"
#include "roast-run.h"
#include "util/cleanup.h"
#include "util/json-read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A directory of this process, with one file; made when it is first needed */
static char directory[] = "/dev/shm/roast-fuzz-XXXXXX", path[64];

static void remove_measurement(void)
{
        unlink(path);
        rmdir(directory);
}

static const char *write_measurement(const uint8_t *data, size_t size)
{
        int fd;

        if (!path[0]) {
                if (!mkdtemp(directory) || atexit(remove_measurement) != 0)
                        abort();
                snprintf(path, sizeof(path), "%s/metrics.json", directory);
        }
        fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        if (fd < 0 || write(fd, data, size) != (ssize_t)size)
                abort();
        close(fd);
        return directory;
}

static bool is_json(const char *text, size_t len)
{
        struct json_reader in;
        bool good;

        if (json_reader_init(&in, text, len) < 0)
                abort();
        (void)json_read_skip(&in);
        good = json_reader_end(&in, NULL) == 0;
        json_reader_deinit(&in);
        return good;
}

static int into_buf(const void *data, size_t len, void *context, struct roast_error *error)
{
        return buf_append(context, data, len) < 0 ? roast_fail_nomem(error) : 0;
}

static void count(const char *table, int64_t rows, void *context)
{
        (void)table;
        *(int64_t *)context += rows;
}

static void use_run(struct roast_run *run)
{
        static const struct roast_export_options wanted[] = {
                { ROAST_EXPORT_JSON, ROAST_EXPORT_METRICS, false },
                { ROAST_EXPORT_JSON, ROAST_EXPORT_CHUNKS, false },
                { ROAST_EXPORT_JSON, ROAST_EXPORT_SERIES, false },
                { ROAST_EXPORT_CHROME_TRACE, ROAST_EXPORT_DEFAULT, false },
        };
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary = { 0 };
        int64_t rows = 0;

        if (roast_run_check(run, count, &rows, NULL) < 0 || rows == 0 ||
            roast_summary_of_run(&summary, run, NULL) < 0)
                abort();
        for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
                ROAST_CLEANUP(buf_deinit) struct buf out = BUF_INIT;

                if (roast_export(run, &wanted[i], into_buf, &out, NULL) < 0)
                        abort();
                if (buf_put_u8(&out, 0) < 0 || !is_json((const char *)out.data, out.len - 1))
                        abort();
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct roast_error error = { 0 };
        struct roast_run *run = NULL;

        if (roast_run_open_any(&run, write_measurement(data, size), &error) < 0) {
                if (error.code >= 0 || !error.message[0])
                        abort();
                return 0;
        }
        use_run(run);
        roast_run_free(run);
        return 0;
}
