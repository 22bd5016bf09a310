/* Scenes that are explained: see explained.h. */

#include "unit.h"

#include "explained.h"
#include "sample.h"
#include "util/cleanup.h"

void explain_scene(struct roast_explanation *found, const struct scene *scene)
{
        ROAST_CLEANUP(sample_freep) struct roast_run *run = scene_run(scene);
        struct roast_error error = { 0 };

        if (roast_explain(found, run, &error) != 0)
                fail_msg("%s", error.message);
}

const struct roast_finding *find_rule(const struct roast_explanation *found, const char *rule)
{
        for (size_t i = 0; i < found->n_findings; i++)
                if (!strcmp(found->findings[i].rule, rule))
                        return &found->findings[i];
        return NULL;
}

const char *why_not(const struct roast_explanation *found, const char *rule)
{
        for (size_t i = 0; i < found->n_unfired; i++)
                if (!strcmp(found->unfired[i].rule, rule))
                        return found->unfired[i].why_not;
        fail_msg("%s fired", rule);
        return NULL;
}

void assert_none_fired(const struct roast_explanation *found)
{
        if (found->n_findings)
                fail_msg("%s fired: %s", found->findings[0].rule, found->findings[0].title);
}
