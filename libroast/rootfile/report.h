#pragma once
/* Parts of the JSON answer about a ROOT file. */

#include "roast-rootfile.h"
#include "util/json.h"

void report_counts(struct json *json, const char *key, const struct roast_root_counts *counts);
void report_cycles(struct json *json, int32_t cycle, const int32_t *others, size_t n);
/* A list of collections, which it frees. */
void report_collections(struct json *json, struct roast_root_collection *collections, size_t n);
void report_hints(struct json *json, const struct roast_root_hint *hints, size_t n);

/* Objects of a list begin on their own line and stay on it. */
void report_row_begin(struct json *json);
void report_row_end(struct json *json);

void report_tree(struct json *json, const struct roast_root_tree *tree, bool branches);
void report_ntuple(struct json *json, const struct roast_root_ntuple *ntuple, bool fields);
void report_tree_need(struct json *json, const struct roast_root_tree *tree,
                      const struct roast_rootfile_view *view);
void report_ntuple_need(struct json *json, const struct roast_root_ntuple *ntuple,
                        const struct roast_rootfile_view *view);
