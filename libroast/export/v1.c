/*
 * A run as a measurement directory of format v1
 *
 * It is written beside its place and moved there when it is complete. The run
 * goes with it as run.roast: metrics.json says the same in the documented keys.
 */

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "export/tracking.h"
#include "export/v1.h"
#include "run/run.h"
#include "util/cleanup.h"
#include "util/hold.h"

static int v1_write_all(const void *data, size_t len, void *context, struct roast_error *error)
{
        const char *at = data;

        while (len) {
                ssize_t n = write(*(const int *)context, at, len);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return roast_fail(error, ROAST_E_IO, "cannot write: %s", strerror(errno));
                at += n;
                len -= (size_t)n;
        }
        return 0;
}

static int v1_open_file(const char *directory, const char *name, struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_free) char *path = NULL;
        int fd;

        if (asprintf(&path, "%s/%s", directory, name) < 0) {
                path = NULL;
                return roast_fail_nomem(error);
        }
        fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        return fd < 0 ? roast_fail(error, ROAST_E_IO, "%s: cannot be created: %s", path,
                                   strerror(errno))
                      : fd;
}

static int v1_write_text(const char *directory, const char *name, const char *text,
                         struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_close) int fd = v1_open_file(directory, name, error);

        return fd < 0 ? fd : v1_write_all(text, strlen(text), &fd, error);
}

static int v1_write_metrics(struct v1 *v1, const char *directory, struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_close) int fd = v1_open_file(directory, "metrics.json", error);
        ROAST_CLEANUP(out_deinit) struct out out;
        int r;

        out_init(&out, v1_write_all, &fd);
        if (fd < 0)
                return fd;
        r = run_view_begin(v1->run, error);
        if (r < 0)
                return r;
        r = roast_summary_of_run(&v1->summary, v1->run, error);
        v1->out = &out;
        if (r >= 0)
                r = v1_put_metrics(v1, error);
        v1->out = NULL;
        run_view_end(v1->run);
        return r < 0 ? r : out_end(&out, error);
}

/* t0 and t1 as the collector gives them: seconds since 1970, and by the monotonic clock later */
static int v1_write_times(struct v1 *v1, const char *directory, struct roast_error *error)
{
        const struct roast_value *elapsed = &v1->summary.metrics.values[ROAST_ELAPSED_TIME_SECONDS];
        ROAST_CLEANUP(buf_deinit) struct buf text = BUF_INIT;
        struct roast_run_about about;
        double start, span;
        char time[32];
        int r;

        r = roast_run_about(v1->run, &about, error);
        if (r < 0)
                return r;
        start = about.start_utc_ns == INT64_MIN ? 0 : (double)about.start_utc_ns / 1e9;
        span = elapsed->state == ROAST_ABSENT ? 0 : elapsed->real;
        r = buf_put_real(&text, start);
        if (r >= 0)
                r = buf_puts(&text, ",");
        if (r >= 0)
                r = buf_put_real(&text, start + span);
        if (r < 0 || buf_append(&text, "\n", 2) < 0)
                return roast_fail_nomem(error);
        r = v1_write_text(directory, "start_end_time.txt", (const char *)text.data, error);
        if (r < 0)
                return r;
        buf_clear(&text);
        tracking_time(time, about.end_utc_ns == INT64_MIN ? 0 : about.end_utc_ns);
        r = buf_printf(&text, "{\n  \"timestamp\": \"%s\",\n  \"elapsed_time_seconds\": ", time);
        if (r >= 0)
                r = buf_put_real(&text, span);
        if (r < 0 || buf_puts(&text, ",\n  \"format\": \"roastcoffea_measurement_v1\"\n}\n") < 0 ||
            buf_put_u8(&text, 0) < 0)
                return roast_fail_nomem(error);
        return v1_write_text(directory, "metadata.json", (const char *)text.data, error);
}

struct config {
        const char *directory;
        struct roast_error *error;
        int r;
};

static int v1_write_config(const struct roast_fact *fact, void *context)
{
        struct config *config = context;

        if (strcmp(fact->name, "import.config") != 0 || fact->type != ROAST_FACT_TEXT)
                return 0;
        config->r = v1_write_text(config->directory, "config.json", fact->text, config->error);
        return 1;
}

static int v1_write_run(struct v1 *v1, const char *directory, struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_free) char *path = NULL;

        if (asprintf(&path, "%s/run.roast", directory) < 0) {
                path = NULL;
                return roast_fail_nomem(error);
        }
        return roast_run_copy_new(v1->run, path, error);
}

static int v1_write_files(struct v1 *v1, const char *directory, struct roast_error *error)
{
        struct config config = { directory, error, 0 };
        int r;

        r = v1_write_metrics(v1, directory, error);
        if (r >= 0)
                r = v1_write_times(v1, directory, error);
        if (r >= 0)
                r = roast_run_facts(v1->run, v1_write_config, &config, error);
        if (r >= 0)
                r = config.r;
        return r < 0 ? r : v1_write_run(v1, directory, error);
}

static int v1_remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
        (void)st;
        (void)type;
        (void)ftw;
        return remove(path);
}

/* With the mode that mkdir(2) would have given it */
static int v1_make_temporary(char *name)
{
        mode_t mask = umask(0);

        umask(mask);
        return mkdtemp(name) && chmod(name, 0777 & ~mask) == 0 ? 0 : -1;
}

int roast_export_v1(struct roast_run *run, const char *directory, struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_free) char *temporary = NULL;
        ROAST_CLEANUP(hold_end) sigset_t before = hold_begin();
        struct v1 v1 = { .run = run };
        size_t len = strlen(directory);
        int r;

        while (len > 1 && directory[len - 1] == '/')
                len--;
        if (asprintf(&temporary, "%.*s.part-XXXXXX", (int)len, directory) < 0) {
                temporary = NULL;
                return roast_fail_nomem(error);
        }
        if (access(directory, F_OK) == 0)
                return roast_fail(error, ROAST_E_STATE, "%s: is there already: it is not replaced",
                                  directory);
        if (v1_make_temporary(temporary) < 0)
                return roast_fail(error, ROAST_E_IO, "%s: cannot be created: %s", directory,
                                  strerror(errno));
        r = v1_write_files(&v1, temporary, error);
        /* an empty directory that came meanwhile is replaced, any other is not */
        if (r >= 0 && rename(temporary, directory) < 0)
                r = roast_fail(error,
                               errno == ENOTEMPTY || errno == EEXIST ? ROAST_E_STATE : ROAST_E_IO,
                               "%s: cannot be created: %s", directory, strerror(errno));
        if (r < 0)
                nftw(temporary, v1_remove_one, 8, FTW_DEPTH | FTW_PHYS);
        roast_summary_deinit(&v1.summary);
        return r;
}
