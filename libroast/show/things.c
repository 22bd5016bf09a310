/* The table of the metrics that users registered: see things.h. */

#include "show/things.h"
#include "roast-units.h"
#include "show/build.h"

int things_fill_custom(struct roast_table *table, const struct roast_summary *summary)
{
        for (size_t i = 0; i < summary->n_customs; i++) {
                const struct roast_custom *custom = &summary->customs[i];
                struct roast_cell *cells = build_row(table);
                char text[ROAST_UNITS_MAX];

                if (!cells)
                        return ROAST_E_NOMEM;
                build_text(&cells[0], "%s", custom->title ? custom->title : custom->key);
                if (custom->value.state == ROAST_ABSENT)
                        build_absent(&cells[1], custom->value.reason);
                else
                        build_real(&cells[1], custom->value.real,
                                   roast_format_custom(text, sizeof(text), custom));
        }
        return 0;
}
