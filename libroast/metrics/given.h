#pragma once
/*
 * Figures that somebody gives in the place of what is measured (facts given.KEY)
 *
 * A dict of metrics in the documented shape, or what a back end's own parser makes of its workers,
 * becomes such facts. They are taken at their word: a number is known, or estimated if it comes
 * with a reason; none is absent for its reason. Of datasets and sections there is a fact for each
 * figure: given.dataset.FIELD.NAME, given.section.FIELD.NAME; those of the dataset without a name
 * end with the field. given.whole says that there is nothing else.
 */

#include "metrics/collect.h"

/* `key` is the fact's name behind "given."; 0 or ROAST_E_NOMEM */
int given_note(struct roast_summary *summary, const char *key, const struct roast_fact *fact);
