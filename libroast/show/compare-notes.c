/* What the tables of a comparison cannot say by themselves, in sentences */

#include <math.h>
#include <stdio.h>

#include "roast-compare.h"
#include "util/buf.h"
#include "util/cleanup.h"

/* More than this is said: it hides what one would look for. */
#define NOISE_SAID 0.05

char *roast_comparison_notes(const struct roast_comparison *comparison)
{
        ROAST_CLEANUP(buf_deinit) struct buf out = BUF_INIT;
        bool single = comparison->n_runs == comparison->n_groups, called = false;
        char line[256];
        double noise = 0;
        int r = 0;

        for (size_t i = 0; i < comparison->n_rows; i++) {
                noise = fmax(noise, comparison->rows[i].noise);
                called |= comparison->rows[i].verdict != ROAST_VERDICT_NONE;
        }
        for (size_t i = 1; i < comparison->n_groups && r >= 0; i++) {
                if (*comparison->matched_by[i])
                        continue;
                snprintf(line, sizeof(line),
                         "The runs have too few chunks and files in common to match them: all of "
                         "%s is held against all of A.\n",
                         roast_group_letters[i]);
                r = buf_puts(&out, line);
        }
        if (single && noise > NOISE_SAID && r >= 0) {
                snprintf(line, sizeof(line),
                         "Others used the cores: wall times of two such runs can differ by a "
                         "factor of %.1f by themselves, which is not called a difference. Groups "
                         "of runs tell more.\n",
                         1 + noise);
                r = buf_puts(&out, line);
        }
        if (!called && r >= 0)
                r = buf_puts(&out, "No difference can be told from chance.\n");
        return r < 0 ? NULL : buf_release_string(&out);
}
