#pragma once
/* What `roast watch` draws, apart from the terminal that it is drawn on */

#include "roast-run.h"
#include "util/buf.h"

struct watch_size {
        size_t width;
        size_t height;
        bool color;
};

/* Lines that fit the terminal; returns 1 if the run has ended, 0 if it goes on, or an error. */
int watch_compose(struct buf *out, struct roast_run *run, const struct watch_size *size,
                  struct roast_error *error);
