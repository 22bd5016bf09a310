/* Chunks by file, site or host: see group.h. */

#include <stdlib.h>
#include <string.h>

#include "analyze/group.h"
#include "roast-error.h"
#include "util/cleanup.h"

size_t group_site(const char *name, size_t len)
{
        const char *scheme = name ? memmem(name, len, "://", 3) : NULL;
        const char *end;

        if (!scheme || (scheme == name + 4 && !memcmp(name, "file", 4)))
                return 0;
        scheme += 3;
        end = memchr(scheme, '/', (size_t)(name + len - scheme));
        return end ? (size_t)(end - name) : len;
}

/* For each file the number of the first file of its site; NULL without memory */
static uint32_t *group_sites_of(const struct study *study)
{
        ROAST_CLEANUP(intern_deinit) struct intern sites = { 0 };
        ROAST_CLEANUP(cleanup_free) uint32_t *first = NULL;
        uint32_t *of = malloc((study->texts.n + 1) * sizeof(*of));
        int64_t number = 0;

        first = malloc((study->texts.n + 1) * sizeof(*first));
        if (!of || !first)
                number = ROAST_E_NOMEM;
        for (size_t i = 0; i < study->texts.n && number >= 0; i++) {
                size_t len, site, before = sites.n;
                const char *name = study_text(study, (uint32_t)i, &len);

                site = group_site(name, len);
                of[i] = STUDY_NONE;
                if (!site)
                        continue;
                number = intern_put(&sites, name, site);
                if (number < 0)
                        break;
                if (sites.n > before)
                        first[number] = (uint32_t)i;
                of[i] = first[number];
        }
        if (number < 0) {
                free(of);
                return NULL;
        }
        return of;
}

static uint32_t group_key_of(const struct study_chunk *chunk, enum group_by by,
                             const uint32_t *sites)
{
        if (by == GROUP_SITE && chunk->file != STUDY_NONE)
                return sites[chunk->file];
        return by == GROUP_HOST ? chunk->host : chunk->file;
}

int64_t group_chunks(const struct study *study, enum group_by by, struct group **ret)
{
        ROAST_CLEANUP(cleanup_free) struct study_fit *fits = NULL;
        ROAST_CLEANUP(cleanup_free) struct group *groups = NULL;
        ROAST_CLEANUP(cleanup_free) uint32_t *sites = NULL;
        struct roast_error error;
        int64_t n = 0;

        groups = calloc(study->texts.n + 1, sizeof(*groups));
        sites = by == GROUP_SITE ? group_sites_of(study) : NULL;
        if (!groups || (by == GROUP_SITE && !sites) || study_fits(study, &fits, &error) < 0)
                return ROAST_E_NOMEM;
        for (size_t i = 0; i < study->n_chunks; i++) {
                const struct study_chunk *chunk = &study->chunks[i];
                uint32_t key = group_key_of(chunk, by, sites);

                if (key == STUDY_NONE)
                        continue;
                n += groups[key].chunks == 0;
                groups[key].chunks++;
                groups[key].own_s += study_own_s(chunk);
                groups[key].expected_s +=
                        study_expected(study_fit_of(study, fits, chunk->dataset), chunk->events);
        }
        *ret = groups;
        groups = NULL;
        return n;
}

/* Sums of one level of a factor */
struct level {
        double n;
        double sum;
};

/* Squares between the levels, for as many chunks as there are */
static double group_between(const struct level *levels, size_t n_levels, double mean)
{
        double squares = 0;

        for (size_t i = 0; i < n_levels; i++)
                if (levels[i].n > 0) {
                        double off = levels[i].sum / levels[i].n - mean;

                        squares += levels[i].n * off * off;
                }
        return squares;
}

/* Levels with one chunk each would explain everything: what chance explains is taken off. */
static double group_explained(const struct level *levels, size_t n_levels, double n, double mean,
                              double total)
{
        double used = 0, share, chance;

        for (size_t i = 0; i < n_levels; i++)
                used += levels[i].n > 0;
        if (used < 2 || used >= n || !(total > 0))
                return 0;
        share = group_between(levels, n_levels, mean) / total;
        chance = (used - 1) / (n - 1);
        return fmax((share - chance) / (1 - chance), 0);
}

#define TIME_LEVELS 20

int group_factors(const struct study *study, const float *excess,
                  struct group_factor factors[GROUP_N_FACTORS])
{
        ROAST_CLEANUP(cleanup_free) struct level *files = NULL;
        ROAST_CLEANUP(cleanup_free) struct level *hosts = NULL;
        struct level times[TIME_LEVELS] = { 0 };
        double n = (double)study->n_chunks, mean = 0, total = 0;
        double x = 0, xx = 0, xy = 0, span_s = study->last_s - study->first_s, var, cov;

        files = calloc(study->texts.n + 1, sizeof(*files));
        hosts = calloc(study->texts.n + 1, sizeof(*hosts));
        if (!files || !hosts)
                return ROAST_E_NOMEM;
        for (size_t i = 0; i < study->n_chunks; i++)
                mean += (double)excess[i] / n;
        for (size_t i = 0; i < study->n_chunks; i++) {
                const struct study_chunk *chunk = &study->chunks[i];
                double y = (double)excess[i], events = chunk->events;
                size_t file = chunk->file == STUDY_NONE ? study->texts.n : chunk->file;
                size_t host = chunk->host == STUDY_NONE ? study->texts.n : chunk->host;
                double place = span_s > 0 ? (chunk->start_s - study->first_s) / span_s : 0;
                size_t at = (size_t)(fmin(fmax(place, 0), 0.999) * TIME_LEVELS);

                total += (y - mean) * (y - mean);
                x += events;
                xx += events * events;
                xy += events * (y - mean);
                files[file].n++;
                files[file].sum += y;
                hosts[host].n++;
                hosts[host].sum += y;
                times[at].n++;
                times[at].sum += y;
        }
        var = xx / n - x / n * (x / n);
        cov = xy / n;
        factors[0] = (struct group_factor){
                "the number of events",
                var > 0 && total > 0 ? fmin(cov * cov / var / (total / n), 1) : 0,
        };
        factors[1] = (struct group_factor){ "the file", group_explained(files, study->texts.n + 1,
                                                                        n, mean, total) };
        factors[2] = (struct group_factor){ "the host", group_explained(hosts, study->texts.n + 1,
                                                                        n, mean, total) };
        factors[3] = (struct group_factor){ "the time of day",
                                            group_explained(times, TIME_LEVELS, n, mean, total) };
        return 0;
}
