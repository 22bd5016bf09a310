#pragma once
/* Chunks by file, site or host: how much longer than expected they took */

#include "analyze/study.h"

struct group {
        double chunks;
        double own_s; /* without waiting for a core */
        double expected_s;
};

enum group_by { GROUP_FILE, GROUP_SITE, GROUP_HOST };

/* By the number of the name: of the file, of the first file of a site, of the host. The caller
 * frees; texts.n of them. Returns how many groups have chunks, or ROAST_E_NOMEM. */
int64_t group_chunks(const struct study *study, enum group_by by, struct group **ret);

/* The site of a file name: "root://host"; 0: it is a local one */
size_t group_site(const char *name, size_t len);

#define GROUP_N_FACTORS 4

/* How much of the differences a factor explains: the share of the variance, 0 to 1 */
struct group_factor {
        const char *name; /* the number of events, the file, the host, the time */
        double explains;
};

/* `excess` has a figure for each chunk. 0 or ROAST_E_NOMEM. */
int group_factors(const struct study *study, const float *excess,
                  struct group_factor factors[GROUP_N_FACTORS]);
