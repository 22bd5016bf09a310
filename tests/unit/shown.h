#pragma once
/* Runs to show, and everything that is shown of them */

#include "roast-show.h"
#include "sample.h"

struct roast_run *shown_sample(void);
struct roast_run *shown_empty(void);
/* With names as nobody should have, but somebody will */
struct roast_run *shown_hostile(void);

struct shown {
        struct roast_run *run;
        struct roast_summary summary;
        struct roast_tables tables;
};

/* Takes the run. */
void show(struct shown *shown, struct roast_run *run);
void shown_deinit(struct shown *shown);

typedef int (*to_string)(char **ret, const struct roast_table *table, struct roast_error *error);

int to_text(char **ret, const struct roast_table *table, struct roast_error *error);
int to_color(char **ret, const struct roast_table *table, struct roast_error *error);
/* All tables in a format, one after the other; the caller frees, and so the next. */
char *all_tables(const struct shown *shown, to_string format);
char *to_json(const struct shown *shown);
