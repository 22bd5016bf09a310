/*
 * What is told of one run
 *
 * A part is made when it is asked for and the run has changed since it was made
 * last, by one thread while the others wait for it. Runs that take long to look
 * at are looked at less often, so that following them never takes more than a
 * tenth of a core.
 */

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "report/report.h"
#include "roast-export.h"
#include "roast-report.h"
#include "roast-run.h"
#include "roast-show.h"
#include "run/run.h"
#include "serve/catalog.h"
#include "util/cleanup.h"
#include "util/clock.h"

#define LOOK_NS      1000000000
#define SHARE_OF_CPU 10

void served_bytes_unref(struct served_bytes *bytes)
{
        if (bytes && __atomic_sub_fetch(&bytes->references, 1, __ATOMIC_ACQ_REL) == 0)
                free(bytes);
}

static struct served_bytes *served_ref(struct served_bytes *bytes)
{
        __atomic_add_fetch(&bytes->references, 1, __ATOMIC_RELAXED);
        return bytes;
}

/*
 * Sizes and times of the file and of its journal, which change with every commit; and which file it
 * is: another one may have taken its name.
 */
static uint64_t served_stamp_of(const char *path)
{
        /* of a directory, what is opened in it */
        static const char *const ends[] = { "",
                                            "-wal",
                                            "/run.roast",
                                            "/run.roast-wal",
                                            "/metrics.json",
                                            "/transactions",
                                            "/vine-logs/transactions",
                                            "/most-recent/vine-logs/transactions",
                                            "/vine-run-info/most-recent/vine-logs/transactions" };
        uint64_t hash = 1;

        for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
                ROAST_CLEANUP(cleanup_free) char *name = NULL;
                struct stat st;
                int64_t seen[4];

                if (asprintf(&name, "%s%s", path, ends[i]) < 0) {
                        name = NULL;
                        continue;
                }
                if (stat(name, &st) < 0)
                        continue;
                seen[0] = st.st_size;
                seen[1] = st.st_mtim.tv_sec;
                seen[2] = st.st_mtim.tv_nsec;
                seen[3] = (int64_t)st.st_ino;
                hash = run_hash(hash, seen, sizeof(seen));
        }
        return hash;
}

/* With the lock held */
static uint64_t served_look(struct served *served)
{
        int64_t now = clock_monotonic_ns(), pause = SHARE_OF_CPU * served->cost_ns;
        uint64_t stamp;

        if (pause < LOOK_NS)
                pause = LOOK_NS;
        if (served->version && now >= 0 && now - served->looked_ns < pause)
                return served->version;
        served->looked_ns = now;
        stamp = served_stamp_of(served->path);
        if (!served->version || stamp != served->stamp) {
                served->stamp = stamp;
                /* not that of another run or of a server before: from the time on */
                served->version =
                        served->version ? served->version + 1 : (uint64_t)clock_utc_ns() / 1000;
        }
        return served->version;
}

uint64_t served_version(struct served *served)
{
        uint64_t version;

        if (pthread_mutex_trylock(&served->lock)) /* a part is being made */
                return 0;
        version = served_look(served);
        pthread_mutex_unlock(&served->lock);
        return version;
}

static int served_make_metrics(struct buf *out, struct roast_run *run, struct roast_error *error)
{
        ROAST_CLEANUP(roast_summary_deinit) struct roast_summary summary = { 0 };
        ROAST_CLEANUP(cleanup_free) char *json = NULL;
        int r = roast_summary_of_run(&summary, run, error);

        if (r >= 0)
                r = roast_show_to_json(&json, run, &summary, NULL, error);
        return r < 0 ? r : buf_puts(out, json) < 0 ? roast_fail_nomem(error) : 0;
}

static int served_make_data(struct buf *out, struct roast_run *run, struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_free) void *data = NULL;
        size_t len;
        int r = roast_report_data(&data, &len, run, error);

        return r < 0 ? r : report_deflate(out, data, len) < 0 ? roast_fail_nomem(error) : 0;
}

static int served_append(const void *data, size_t len, void *context, struct roast_error *error)
{
        return buf_append(context, data, len) < 0 ? roast_fail_nomem(error) : 0;
}

static int served_make_openmetrics(struct buf *out, struct roast_run *run,
                                   struct roast_error *error)
{
        static const struct roast_export_options options = { .format = ROAST_EXPORT_OPENMETRICS };

        return roast_export(run, &options, served_append, out, error);
}

static int served_make(struct served *served, enum served_part part, struct roast_error *error)
{
        static int (*const makers[])(struct buf *, struct roast_run *, struct roast_error *) = {
                [SERVED_METRICS] = served_make_metrics,
                [SERVED_DATA] = served_make_data,
                [SERVED_OPENMETRICS] = served_make_openmetrics,
        };
        ROAST_CLEANUP(buf_deinit) struct buf out = BUF_INIT;
        int64_t begun_ns = clock_monotonic_ns(), cost_ns;
        struct served_bytes *bytes;
        struct roast_run *run;
        int r = roast_run_open_any(&run, served->path, error);

        if (r < 0)
                return r;
        r = makers[part](&out, run, error);
        roast_run_free(run);
        if (r < 0)
                return r;
        bytes = malloc(sizeof(*bytes) + out.len);
        if (!bytes)
                return roast_fail_nomem(error);
        bytes->references = 1;
        bytes->len = out.len;
        if (out.len)
                memcpy(bytes->data, out.data, out.len);
        cost_ns = begun_ns < 0 ? CLOCK_ABSENT : clock_monotonic_ns() - begun_ns;
        if (cost_ns < 0)
                cost_ns = served->cost_ns;
        if (part == SERVED_DATA || cost_ns > served->cost_ns)
                served->cost_ns = cost_ns;
        served_bytes_unref(served->parts[part].bytes);
        served->parts[part].bytes = bytes;
        served->parts[part].version = served->version;
        return 0;
}

int served_part(struct served *served, enum served_part part, struct served_bytes **ret,
                uint64_t *version, struct roast_error *error)
{
        int r = 0;

        pthread_mutex_lock(&served->lock);
        if (served_look(served) != served->parts[part].version)
                r = served_make(served, part, error);
        if (r >= 0) {
                *ret = served_ref(served->parts[part].bytes);
                *version = served->parts[part].version;
        }
        pthread_mutex_unlock(&served->lock);
        return r;
}
