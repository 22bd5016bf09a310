/*
 * Clocks of workers
 *
 * Rows carry the time of the clock of whoever made them. How far that is from
 * the clock of the run is told by whoever compared the two; from then on stamps
 * are corrected when their rows are added, so that every reader finds one time.
 * The corrections are facts of the run: clock.offset_ns.WORKER is what was added
 * to stamps, clock.error_ns.WORKER how far off it may be.
 */

#include <stdlib.h>
#include <string.h>

#include "run/run.h"
#include "util/buf.h"
#include "util/cleanup.h"
#include "util/size.h"

static int clock_note(struct roast_run *run, const char *what, const char *worker, int64_t value,
                      struct roast_error *error)
{
        ROAST_CLEANUP(buf_deinit) struct buf name = BUF_INIT;

        if (buf_printf(&name, "clock.%s.%s", what, worker) < 0 || buf_put_u8(&name, 0) < 0)
                return roast_fail_nomem(error);
        return roast_run_fact_int(run, (const char *)name.data, value, error);
}

int roast_run_set_clock(struct roast_run *run, const char *worker, int64_t offset_ns,
                        int64_t error_ns, struct roast_error *error)
{
        struct run_clocks *clocks = &run->clocks;
        int64_t number = intern_put(&clocks->names, worker, strlen(worker));
        int64_t *offsets = NULL;
        size_t size;
        int r;

        if (number >= 0 && size_mul(clocks->names.n, sizeof(*offsets), &size))
                offsets = realloc(clocks->offsets_ns, size);
        if (!offsets) {
                intern_truncate(&clocks->names, clocks->n);
                return roast_fail_nomem(error);
        }
        clocks->offsets_ns = offsets;
        clocks->offsets_ns[number] = offset_ns;
        clocks->n = clocks->names.n;
        r = clock_note(run, "offset_ns", worker, offset_ns, error);
        return r < 0 ? r : clock_note(run, "error_ns", worker, error_ns, error);
}

int64_t run_clock_offset(const struct roast_run *run, const char *worker, size_t len)
{
        int64_t number = worker && run->clocks.n ? intern_find(&run->clocks.names, worker, len)
                                                 : ROAST_E_NOENT;

        return number < 0 ? 0 : run->clocks.offsets_ns[number];
}

int64_t run_clock_correct(int64_t utc_ns, int64_t offset_ns)
{
        int64_t corrected;

        return __builtin_add_overflow(utc_ns, offset_ns, &corrected) ? utc_ns : corrected;
}

void run_clocks_deinit(struct run_clocks *clocks)
{
        intern_deinit(&clocks->names);
        free(clocks->offsets_ns);
}
