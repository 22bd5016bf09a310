/* Runs of groups: see compared.h. */

#include "unit.h"

#include "compared.h"
#include "summed.h"

struct roast_run *add_run(struct compared *compared, size_t group)
{
        struct roast_run *run = new_timed_run();

        assert_true(compared->n < COMPARED_MAX);
        compared->groups[compared->n] = group;
        compared->runs[compared->n++] = run;
        return run;
}

void add_worker(struct roast_run *run, const char *name, const char *host)
{
        struct roast_worker worker = { name, host, -1, 1, -1 };

        assert_int_equal(roast_run_add_worker_event(run, UTC, ROAST_WORKER_PRESENT, &worker, NULL),
                         0);
}

void compare(struct compared *compared)
{
        struct roast_error error = { 0 };

        for (size_t i = 0; i < compared->n; i++)
                assert_int_equal(roast_run_commit(compared->runs[i], NULL), 0);
        roast_comparison_deinit(&compared->comparison);
        if (roast_compare(&compared->comparison, compared->runs, compared->groups, compared->n,
                          &error) < 0)
                fail_msg("%s", error.message);
}

void compared_deinit(struct compared *compared)
{
        for (size_t i = 0; i < compared->n; i++)
                roast_run_free(compared->runs[i]);
        roast_comparison_deinit(&compared->comparison);
}
