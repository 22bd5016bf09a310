#pragma once
/* Scenes that are explained, and what their explanation says of a rule */

#include "roast-explain.h"
#include "scene.h"

/* The caller deinits. */
void explain_scene(struct roast_explanation *found, const struct scene *scene);
/* What a rule found; NULL: it did not fire. */
const struct roast_finding *find_rule(const struct roast_explanation *found, const char *rule);
/* Why a rule did not fire, which it must not have. */
const char *why_not(const struct roast_explanation *found, const char *rule);
/* No rule fired. */
void assert_none_fired(const struct roast_explanation *found);
