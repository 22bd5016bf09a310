/* Rules about places: files, sites and hosts that are slower than others */

#include <stdlib.h>
#include <string.h>

#include "analyze/group.h"
#include "analyze/rule.h"
#include "util/cleanup.h"

/* A kind of place, and how much slower than expected it must be to be called slow */
struct place {
        const char *kind;
        const char *plural;
        enum group_by by;
        double factor;
};

static void rules_name_place(struct verdict *verdict, const struct study *study,
                             const struct place *place, uint32_t number, const struct group *group)
{
        double factor = group->own_s / group->expected_s;
        size_t len;
        const char *name = study_text(study, number, &len);

        if (place->by == GROUP_SITE)
                len = group_site(name, len);
        verdict_name(verdict, place->kind, name, len, "%.1f times the expected %s, %s chunks",
                     factor, say_s(group->expected_s), say_count(group->chunks));
}

static int rules_check(const struct study *study, double limit, const struct place *place,
                       struct verdict *verdict)
{
        ROAST_CLEANUP(cleanup_free) struct group *groups = NULL;
        int64_t n = group_chunks(study, place->by, &groups);
        struct top top = { 0 };
        double excess_s = 0, slow = 0, slowest = 0;

        if (n < 0)
                return ROAST_E_NOMEM;
        if (n < 2)
                return verdict_why_not(verdict, "there are no two %s to compare", place->plural);
        for (size_t i = 0; i < study->texts.n; i++) {
                const struct group *group = &groups[i];
                double factor = group->expected_s > 0 ? group->own_s / group->expected_s : 0;

                slowest = fmax(slowest, factor);
                if (factor < place->factor)
                        continue;
                slow++;
                excess_s += group->own_s - group->expected_s;
                top_add(&top, i, group->own_s - group->expected_s);
        }
        if (slow == 0)
                return verdict_why_not(verdict,
                                       "the slowest of %lld %s takes %.2f times what is "
                                       "expected",
                                       (long long)n, place->plural, slowest);
        if (excess_s < limit * study->wall_s)
                return verdict_why_not(verdict,
                                       "%.0f of %lld %s are slow, but cost %.1f %% of the "
                                       "time only",
                                       slow, (long long)n, place->plural,
                                       100 * excess_s / study->wall_s);
        verdict_fire(verdict, study, excess_s, "%.0f of %lld %s are slow: %s more than expected",
                     slow, (long long)n, place->plural, say_s(excess_s));
        verdict_evidence(verdict,
                         "expected from the events and the other chunks of the dataset; "
                         "%.0f %% of the chunks' time in excess",
                         100 * excess_s / study->wall_s);
        for (size_t i = 0; i < top.n; i++)
                rules_name_place(verdict, study, place, (uint32_t)top.items[i].index,
                                 &groups[top.items[i].index]);
        return 0;
}

int rule_slow_file(const struct study *study, double limit, struct verdict *verdict)
{
        static const struct place place = { "file", "files", GROUP_FILE, 2 };

        return rules_check(study, limit, &place, verdict);
}

int rule_slow_site(const struct study *study, double limit, struct verdict *verdict)
{
        static const struct place place = { "site", "sites", GROUP_SITE, 1.3 };

        return rules_check(study, limit, &place, verdict);
}

int rule_slow_host(const struct study *study, double limit, struct verdict *verdict)
{
        static const struct place place = { "host", "hosts", GROUP_HOST, 1.3 };

        return rules_check(study, limit, &place, verdict);
}
