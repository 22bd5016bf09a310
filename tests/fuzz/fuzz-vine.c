/*
 * TaskVine's logs from any bytes
 *
 * Up to the first NUL the input is the log of transactions, behind it the task
 * graph. Opening their folder gives an error with a message, or a run that
 * passes its checks and has a summary.
 */

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "roast-metrics.h"
#include "roast-run.h"
#include "util/cleanup.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[] = "/dev/shm/roast-vine-XXXXXX";

static void remove_folder(void)
{
        char path[64];

        snprintf(path, sizeof(path), "%s/transactions", folder);
        unlink(path);
        snprintf(path, sizeof(path), "%s/taskgraph", folder);
        unlink(path);
        rmdir(folder);
}

static void write_log(const char *name, const void *data, size_t size)
{
        char path[64];
        int fd;

        snprintf(path, sizeof(path), "%s/%s", folder, name);
        fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        if (fd < 0 || write(fd, data, size) != (ssize_t)size)
                abort();
        close(fd);
}

static void write_logs(const uint8_t *data, size_t size)
{
        /* By this line a log is recognised. */
        static const char head[] = "# time manager_pid MANAGER manager_pid START|END\n";
        const uint8_t *end = size ? memchr(data, 0, size) : NULL;
        size_t len = end ? (size_t)(end - data) : size;
        char *text = malloc(sizeof(head) - 1 + len);

        if (!text)
                abort();
        memcpy(text, head, sizeof(head) - 1);
        if (len)
                memcpy(text + sizeof(head) - 1, data, len);
        write_log("transactions", text, sizeof(head) - 1 + len);
        write_log("taskgraph", end ? end + 1 : data, end ? size - len - 1 : 0);
        free(text);
}

static void count(const char *table, int64_t rows, void *context)
{
        (void)table;
        *(int64_t *)context += rows;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary = { 0 };
        struct roast_error error = { 0 };
        struct roast_run *run = NULL;
        static bool made;
        int64_t rows = 0;

        if (!made) {
                if (!mkdtemp(folder) || atexit(remove_folder) != 0)
                        abort();
                made = true;
        }
        write_logs(data, size);
        if (roast_run_open_any(&run, folder, &error) < 0) {
                if (error.code >= 0 || !error.message[0])
                        abort();
                return 0;
        }
        if (roast_run_check(run, count, &rows, NULL) < 0 || rows == 0 ||
            roast_summary_of_run(&summary, run, NULL) < 0)
                abort();
        roast_run_free(run);
        return 0;
}
