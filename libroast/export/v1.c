/*
 * A run as a measurement directory of format v1
 *
 * It is written beside its place and moved there when it is complete; a
 * measurement that is replaced changes places with it. The run goes with it as
 * run.roast: metrics.json says the same in the documented keys.
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "export/v1.h"
#include "run/run.h"
#include "util/cleanup.h"
#include "util/hold.h"
#include "util/size.h"
#include "util/utc.h"

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

static char *v1_path(const char *directory, const char *name)
{
        char *path;

        return asprintf(&path, "%s/%s", directory, name) < 0 ? NULL : path;
}

/* For its owner alone, as the run beside it */
static int v1_open_file(const char *directory, const char *name, struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_free) char *path = v1_path(directory, name);
        int fd;

        if (!path)
                return roast_fail_nomem(error);
        fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        return fd < 0 ? roast_fail(error, ROAST_E_IO, "%s: cannot be created: %s", path,
                                   strerror(errno))
                      : fd;
}

static int v1_write_text(const char *directory, const char *name, const void *text, size_t len,
                         struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_close) int fd = v1_open_file(directory, name, error);

        return fd < 0 ? fd : v1_write_all(text, len, &fd, error);
}

static int v1_write_metrics(struct v1 *v1, const char *directory, struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_close) int fd = v1_open_file(directory, "metrics.json", error);
        ROAST_CLEANUP(out_deinit) struct out out;
        int r = 0;

        out_init(&out, v1_write_all, &fd);
        out.json.compact = false;
        out.json.surrogates = JSON_ESCAPED_SURROGATES;
        if (fd < 0)
                return fd;
        if (v1->run && (r = run_view_begin(v1->run, error)) < 0)
                return r;
        if (v1->run && !v1->summary) {
                r = roast_summary_of_run(&v1->own, v1->run, error);
                v1->summary = &v1->own;
        }
        if (r >= 0)
                r = v1_put_metrics(v1, &out, error);
        if (v1->run)
                run_view_end(v1->run);
        return r < 0 ? r : out_end(&out, error);
}

/* t0 and t1 as the collector gives them: seconds since 1970, and by the monotonic clock later */
static void v1_find_times(const struct v1 *v1, const struct roast_run_about *about, double *start_s,
                          double *end_s)
{
        const struct roast_value *elapsed;

        *start_s = v1->options->start_s;
        *end_s = v1->options->end_s;
        if (v1->options->has_times || !v1->run)
                return;
        elapsed = &v1->summary->metrics.values[ROAST_ELAPSED_TIME_SECONDS];
        *start_s = about->start_utc_ns == INT64_MIN ? 0 : (double)about->start_utc_ns / 1e9;
        *end_s = *start_s + (elapsed->state == ROAST_ABSENT ? 0 : elapsed->real);
}

static int v1_write_metadata(const struct v1 *v1, const char *directory, int64_t utc_ns,
                             double elapsed_s, struct roast_error *error)
{
        ROAST_CLEANUP(buf_deinit) struct buf text = BUF_INIT;
        struct json json = { .out = &text };
        char time[32];

        utc_text(time, utc_ns);
        json_object(&json);
        json_pair(&json, "timestamp", time);
        json_pair_double(&json, "elapsed_time_seconds", elapsed_s);
        json_pair(&json, "format", "roastcoffea_measurement_v1");
        if (v1->in_run) {
                json_key(&json, "in_run");
                json_array(&json);
                for (size_t i = 0; v1_parts[i].key; i++)
                        if (v1->in_run >> i & 1)
                                json_string(&json, v1_parts[i].key);
                json_end(&json);
        }
        json_end(&json);
        if (json.error < 0 || buf_puts(&text, "\n") < 0)
                return roast_fail_nomem(error);
        return v1_write_text(directory, "metadata.json", text.data, text.len, error);
}

static int v1_write_times(const struct v1 *v1, const char *directory, struct roast_error *error)
{
        ROAST_CLEANUP(buf_deinit) struct buf text = BUF_INIT;
        struct roast_run_about about = { .start_utc_ns = INT64_MIN, .end_utc_ns = INT64_MIN };
        struct timespec now;
        double start_s, end_s;
        int r;

        if (v1->run && (r = roast_run_about(v1->run, &about, error)) < 0)
                return r;
        v1_find_times(v1, &about, &start_s, &end_s);
        if (buf_put_real(&text, start_s) < 0 || buf_puts(&text, ",") < 0 ||
            buf_put_real(&text, end_s) < 0 || buf_puts(&text, "\n") < 0)
                return roast_fail_nomem(error);
        r = v1_write_text(directory, "start_end_time.txt", text.data, text.len, error);
        if (r < 0)
                return r;
        clock_gettime(CLOCK_REALTIME, &now);
        return v1_write_metadata(v1, directory,
                                 about.end_utc_ns != INT64_MIN
                                         ? about.end_utc_ns
                                         : (int64_t)now.tv_sec * 1000000000 + now.tv_nsec,
                                 end_s - start_s, error);
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
        config->r = v1_write_text(config->directory, "config.json", fact->text, strlen(fact->text),
                                  config->error);
        return 1;
}

static int v1_write_files(struct v1 *v1, const char *directory, struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_free) char *copy = v1_path(directory, "run.roast");
        struct config config = { directory, error, 0 };
        int r;

        r = v1_write_metrics(v1, directory, error);
        if (r >= 0)
                r = v1_write_times(v1, directory, error);
        if (r >= 0 && v1->options->config)
                r = v1_write_text(directory, "config.json", v1->options->config,
                                  strlen(v1->options->config), error);
        else if (r >= 0 && v1->run)
                r = roast_run_facts(v1->run, v1_write_config, &config, error);
        if (r >= 0)
                r = config.r;
        if (r < 0 || !v1->run)
                return r;
        return copy ? roast_run_copy_new(v1->run, copy, error) : roast_fail_nomem(error);
}

static int v1_remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
        (void)st;
        (void)type;
        (void)ftw;
        return remove(path);
}

/* A directory of a name that nobody has, with the mode that any new one gets */
static char *v1_make_temporary(const char *path)
{
        for (unsigned int i = 0; i < 1000; i++) {
                char *name;

                if (asprintf(&name, "%s.part-%ld-%u", path, (long)getpid(), i) < 0)
                        return NULL;
                if (mkdir(name, 0777) == 0)
                        return name;
                free(name);
                if (errno != EEXIST)
                        return NULL;
        }
        return NULL;
}

/* Moves what is none of a measurement's files to where they are now. */
static int v1_keep_others(const char *from, const char *to)
{
        static const char *const ours[] = { ".",
                                            "..",
                                            "metrics.json",
                                            "config.json",
                                            "run.roast",
                                            "metadata.json",
                                            "start_end_time.txt" };
        DIR *dir = opendir(from);
        const struct dirent *entry;
        int r = dir ? 0 : -1;

        while (r == 0 && (entry = readdir(dir))) {
                ROAST_CLEANUP(cleanup_free) char *old = v1_path(from, entry->d_name);
                ROAST_CLEANUP(cleanup_free) char *new = v1_path(to, entry->d_name);
                size_t i = 0;

                while (i < ROAST_ARRAY_SIZE(ours) && strcmp(entry->d_name, ours[i]) != 0)
                        i++;
                if (i == ROAST_ARRAY_SIZE(ours))
                        r = old && new ? rename(old, new) : -1;
        }
        if (dir)
                closedir(dir);
        return r;
}

/* An empty directory that came meanwhile is replaced, any other is not, unless that is the wish. */
static int v1_move(const char *temporary, const char *path, bool replace, struct roast_error *error)
{
        if (rename(temporary, path) == 0)
                return 0;
        if (replace && (errno == ENOTEMPTY || errno == EEXIST) &&
            renameat2(AT_FDCWD, temporary, AT_FDCWD, path, RENAME_EXCHANGE) == 0 &&
            v1_keep_others(temporary, path) == 0)
                return 0;
        return roast_fail(error, errno == ENOTEMPTY || errno == EEXIST ? ROAST_E_STATE : ROAST_E_IO,
                          "%s: cannot be created: %s", path, strerror(errno));
}

static int v1_write(struct v1 *v1, const char *path, struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_free) char *temporary = NULL;
        int r;

        if (!v1->options->replace && access(path, F_OK) == 0)
                return roast_fail(error, ROAST_E_STATE, "%s: is there already: it is not replaced",
                                  path);
        temporary = v1_make_temporary(path);
        if (!temporary)
                return roast_fail(error, ROAST_E_IO, "%s: cannot be created: %s", path,
                                  strerror(errno));
        r = v1_write_files(v1, temporary, error);
        if (r >= 0)
                r = v1_move(temporary, path, v1->options->replace, error);
        if (access(temporary, F_OK) == 0)
                nftw(temporary, v1_remove_one, 8, FTW_DEPTH | FTW_PHYS);
        return r;
}

int roast_export_v1(struct roast_run *run, const char *directory,
                    const struct roast_v1_options *options, struct roast_error *error)
{
        static const struct roast_v1_options none = { 0 };
        ROAST_CLEANUP(hold_end) sigset_t before = hold_begin();
        ROAST_CLEANUP(cleanup_free) char *path = strdup(directory);
        struct v1 v1 = { .run = run, .options = options ? options : &none };
        int r;

        if (!path)
                return roast_fail_nomem(error);
        for (size_t len = strlen(path); len > 1 && path[len - 1] == '/'; len--)
                path[len - 1] = '\0';
        v1.summary = v1.options->summary;
        r = v1_write(&v1, path, error);
        roast_summary_deinit(&v1.own);
        return r;
}
