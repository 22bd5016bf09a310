#pragma once
/* The tables of what a run and its time are made of, a row for each part */

#include "roast-show.h"

extern const struct roast_column dataset_columns[];
extern const struct roast_column section_columns[];
extern const struct roast_column file_columns[];
extern const struct roast_column task_columns[];
extern const struct roast_column branch_columns[];
extern const struct roast_column failure_columns[];
extern const struct roast_column byte_columns[];
extern const struct roast_column ledger_columns[];
extern const struct roast_column split_columns[];

enum {
        DATASET_N_COLUMNS = 13,
        SECTION_N_COLUMNS = 9,
        FILE_N_COLUMNS = 17,
        TASK_TABLE_N_COLUMNS = 7,
        BRANCH_N_COLUMNS = 5,
        FAILURE_N_COLUMNS = 7,
        BYTE_N_COLUMNS = 6,
        LEDGER_N_COLUMNS = 7,
        SPLIT_N_COLUMNS = 4,
};

int dataset_fill(struct roast_table *table, const struct roast_summary *summary);
int section_fill(struct roast_table *table, const struct roast_summary *summary);
int task_fill(struct roast_table *table, const struct roast_summary *summary);
int file_fill(struct roast_table *table, const struct roast_summary *summary);
int branch_fill(struct roast_table *table, const struct roast_summary *summary);
int failure_fill(struct roast_table *table, const struct roast_summary *summary);
int byte_fill(struct roast_table *table, const struct roast_summary *summary);
int ledger_fill(struct roast_table *table, const struct roast_summary *summary);
int split_fill(struct roast_table *table, const struct roast_summary *summary);
int custom_fill(struct roast_table *table, const struct roast_summary *summary);

static inline const char *dataset_name(const char *name)
{
        return name ? name : "(no dataset)";
}

/* Cells that files and datasets share; what no chunk tells is left empty. */
void build_sum(struct roast_cell *cell, const struct roast_byte_sum *sum);
void build_ratio(struct roast_cell *cell, const struct roast_byte_sum *part,
                 const struct roast_byte_sum *whole);
void build_again(struct roast_cell *cell, const struct roast_bytes *bytes);
void build_touched(struct roast_cell *cell, const struct roast_bytes *bytes);
