#pragma once
/* What the JSON of a run and that of its page share */

#include "roast-run.h"
#include "util/json.h"

/* The value of a fact; null where it is absent */
void show_fact(struct json *json, const struct roast_fact *fact);
