/* Plans of what fails: see plans.h. */

#include "unit.h"

#include <errno.h>

#include "alloc.h"
#include "faults.h"
#include "plans.h"
#include "util/cleanup.h"
#include "util/size.h"

#define STEP_PART 16

static const struct plan {
        const char *name;
        enum fault kind; /* FAULT_N_KINDS: memory */
        long n;          /* so many; negative: all from there on */
        int error;
        int code; /* what is returned unless the answer is right nevertheless; 0: it must be */
} plans[] = {
        { "a read fails", FAULT_READ, 1, EIO, ROAST_E_IO },
        { "reads fail", FAULT_READ, -1, EIO, ROAST_E_IO },
        { "a write fails", FAULT_WRITE, 1, EIO, ROAST_E_IO },
        { "the disk is full", FAULT_WRITE, -1, ENOSPC, ROAST_E_IO },
        { "no thread starts", FAULT_THREAD, -1, EAGAIN, 0 },
        { "a clock fails", FAULT_CLOCK, 1, EINVAL, 0 },
        { "clocks fail", FAULT_CLOCK, -1, EINVAL, 0 },
        { "an allocation fails", FAULT_N_KINDS, 1, 0, ROAST_E_NOMEM },
        { "there is no memory", FAULT_N_KINDS, -1, 0, ROAST_E_NOMEM },
};

static bool try_once(plan_asking ask, const char *path, const struct plan *plan, long count,
                     const struct buf *wanted)
{
        ROAST_CLEANUP(buf_deinit) struct buf out = BUF_INIT;
        struct roast_error error = { 0 };
        bool memory = plan->kind == FAULT_N_KINDS, failed;
        int r;

        if (memory && plan->n == 1)
                alloc_fail_one(count);
        else if (memory)
                alloc_fail_after(count);
        else
                faults_fail_after(plan->kind, count, plan->n, plan->error);
        r = ask(&out, path, &error);
        failed = memory ? alloc_failed() : faults_failed();
        alloc_fail_after(-1);
        faults_none();
        if (r < 0 && (!failed || r != plan->code || error.code != r || !error.message[0]))
                fail_msg("%s after %ld calls: %d: %s", plan->name, count, r, error.message);
        if (r >= 0 && (out.len != wanted->len || memcmp(out.data, wanted->data, out.len) != 0))
                fail_msg("%s after %ld calls: another answer", plan->name, count);
        return failed;
}

void plans_play(plan_asking ask, const char *path)
{
        ROAST_CLEANUP(buf_deinit) struct buf wanted = BUF_INIT;
        struct roast_error error = { 0 };
        long n = 0;

        if (ask(&wanted, path, &error) < 0)
                fail_msg("%s", error.message);
        assert_true(wanted.len > 0);
        for (size_t i = 0; i < ROAST_ARRAY_SIZE(plans); i++)
                for (long count = 0; try_once(ask, path, &plans[i], count, &wanted);
                     count = faults_next(count, STEP_PART), n++)
                        assert_true(count < 1000000);
        print_message("%ld faults\n", n);
}
