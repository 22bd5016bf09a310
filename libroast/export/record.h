#pragma once
/* A chunk record as a row: the documented dict, and which attempt it was and how it ended */

#include "export/export.h"

extern const struct rows_column record_columns[];
extern const size_t record_n_columns;

/* A number of a record; NaN if it is absent. */
double record_real(const struct chunk_table *table, size_t row, enum chunk_field field,
                   double unit);
const char *record_outcome(const struct chunk_table *table, size_t row);

void record_put(struct rows *rows, const struct chunk_table *table, size_t row, int64_t chunk_id);
struct record {
        const struct chunk_table *table;
        size_t row;
        int64_t chunk_id;
};

/* record-parts.c: branches; without a branch and without a tree nobody looked at them */
size_t record_n_branches(const struct record *record);
bool record_knows_branches(const struct record *record);
double record_branch_bytes(const struct record *record); /* of those that are known; NaN: none */
/* An object's value, if it is known */
void record_put_scaled(struct json *json, const char *key, int64_t value, double unit);
void record_put_count(struct json *json, const char *key, int64_t value);
/* Each writes one nested column. */
void record_put_branches(struct rows *rows, const struct record *record);
void record_put_branch_bytes(struct rows *rows, const struct record *record);
void record_put_timing(struct rows *rows, const struct record *record);
void record_put_memory(struct rows *rows, const struct record *record);
void record_put_bytes(struct rows *rows, const struct record *record);
void record_put_sections(struct rows *rows, const struct record *record);
void record_put_memory_sections(struct rows *rows, const struct record *record);
void record_put_custom(struct rows *rows, const struct record *record);
/* {name: seconds, ...}: its sections */
void record_put_times(struct json *json, const struct chunk_table *table, size_t row);
