/* The JSON answer: RNTuples, their fields and columns. */

#include <stdio.h>
#include <stdlib.h>

#include "rootfile/report.h"
#include "util/cleanup.h"

#define CLUSTERS_SHOWN 6

static void report_field(struct json *json, const struct roast_root_field *field, size_t id)
{
        report_row_begin(json);
        json_pair_int(json, "id", (int64_t)id);
        json_pair_int(json, "parent", field->parent);
        json_pair(json, "path", field->path);
        json_pair(json, "name", field->name);
        json_pair(json, "type", field->type);
        json_pair_int(json, "role", field->role);
        json_pair_bool(json, "projected", field->projected);
        json_key(json, "columns");
        json_array(json);
        for (size_t i = 0; i < field->num_columns; i++)
                json_int(json, field->columns[i]);
        json_end(json);
        json_pair_int(json, "compressed_bytes", (int64_t)field->compressed_bytes);
        json_pair_int(json, "subtree_compressed_bytes", (int64_t)field->subtree_compressed_bytes);
        report_row_end(json);
}

static void report_column(struct json *json, const struct roast_root_ntuple *ntuple, size_t id)
{
        const struct roast_root_column *column = &ntuple->columns[id];

        report_row_begin(json);
        json_pair_int(json, "id", (int64_t)id);
        json_pair_int(json, "field", column->field);
        json_pair(json, "field_path", ntuple->fields[column->field].path);
        json_pair(json, "type", roast_root_column_type_name(column->type));
        json_pair_int(json, "bits", column->bits);
        json_pair_int(json, "representation", column->representation);
        json_pair_bool(json, "deferred", column->deferred);
        json_pair_int(json, "num_pages", (int64_t)column->num_pages);
        json_pair_int(json, "elements", (int64_t)column->elements);
        json_pair_int(json, "compressed_bytes", (int64_t)column->compressed_bytes);
        json_pair_int(json, "uncompressed_bytes", (int64_t)column->uncompressed_bytes);
        json_pair_int(json, "checksum_bytes", (int64_t)column->checksum_bytes);
        json_pair_int(json, "unique_bytes", (int64_t)column->unique_bytes);
        json_pair_int(json, "suppressed_clusters", column->suppressed_clusters);
        json_key(json, "compression_settings");
        json_array(json);
        for (size_t i = 0; i < column->num_settings; i++)
                json_int(json, column->settings[i]);
        json_end(json);
        report_counts(json, "algorithms", &column->algorithms);
        report_row_end(json);
}

static void report_clusters(struct json *json, const struct roast_root_ntuple *ntuple)
{
        size_t n = ntuple->num_clusters < CLUSTERS_SHOWN ? ntuple->num_clusters : CLUSTERS_SHOWN;

        json_pair_int(json, "num_cluster_groups", (int64_t)ntuple->num_cluster_groups);
        json_pair_int(json, "num_clusters", (int64_t)ntuple->num_clusters);
        json_key(json, "cluster_first_entries");
        json_array(json);
        for (size_t i = 0; i < n; i++)
                json_int(json, (int64_t)ntuple->clusters[i].first_entry);
        json_end(json);
        json_key(json, "cluster_entries");
        json_array(json);
        for (size_t i = 0; i < n; i++)
                json_int(json, (int64_t)ntuple->clusters[i].entries);
        json_end(json);
}

static void report_schema(struct json *json, const struct roast_root_ntuple *ntuple)
{
        json_key(json, "fields");
        json_array(json);
        for (size_t i = 0; i < ntuple->num_fields; i++)
                report_field(json, &ntuple->fields[i], i);
        json_end(json);
        json_key(json, "columns");
        json_array(json);
        for (size_t i = 0; i < ntuple->num_columns; i++)
                report_column(json, ntuple, i);
        json_end(json);
}

void report_ntuple(struct json *json, const struct roast_root_ntuple *ntuple, bool fields)
{
        struct roast_root_hint hints[ROAST_ROOT_HINTS_MAX];
        struct roast_root_collection *collections = NULL;
        const uint16_t *version = ntuple->version;
        char text[32];
        size_t n = 0;

        snprintf(text, sizeof(text), "%u.%u.%u.%u", version[0], version[1], version[2], version[3]);
        json_object(json);
        json_pair(json, "path", ntuple->path);
        report_cycles(json, ntuple->cycle, ntuple->other_cycles, ntuple->num_other_cycles);
        json_pair(json, "name", ntuple->name);
        json_pair(json, "version", text);
        json_pair(json, "writer", ntuple->writer);
        json_pair_int(json, "entries", (int64_t)ntuple->entries);
        json_pair_int(json, "num_fields", (int64_t)ntuple->num_fields);
        json_pair_int(json, "num_top_fields", (int64_t)ntuple->num_top_fields);
        json_pair_int(json, "num_columns", (int64_t)ntuple->num_columns);
        json_pair_int(json, "num_alias_columns", (int64_t)ntuple->num_alias_columns);
        report_clusters(json, ntuple);
        json_pair_int(json, "num_pages", (int64_t)ntuple->num_pages);
        json_pair_int(json, "compressed_bytes", (int64_t)ntuple->compressed_bytes);
        json_pair_int(json, "uncompressed_bytes", (int64_t)ntuple->uncompressed_bytes);
        json_pair_int(json, "checksum_bytes", (int64_t)ntuple->checksum_bytes);
        json_pair_int(json, "unique_bytes", (int64_t)ntuple->unique_bytes);
        json_pair_int(json, "header_bytes", (int64_t)ntuple->header_bytes);
        json_pair_int(json, "header_len", (int64_t)ntuple->header_len);
        json_pair_int(json, "footer_bytes", (int64_t)ntuple->footer_bytes);
        json_pair_int(json, "footer_len", (int64_t)ntuple->footer_len);
        json_pair_int(json, "extension_fields", (int64_t)ntuple->extension_fields);
        json_pair_int(json, "extension_columns", (int64_t)ntuple->extension_columns);
        report_counts(json, "algorithms", &ntuple->algorithms);
        if (roast_root_ntuple_collections(ntuple, &collections, &n) < 0)
                json->error = ROAST_E_NOMEM;
        report_collections(json, collections, n);
        report_hints(json, hints, roast_root_ntuple_hints(ntuple, hints));
        if (fields)
                report_schema(json, ntuple);
        json_end(json);
}

static void report_need(struct json *json, const struct roast_rootfile_view *view,
                        const struct roast_root_need *need)
{
        json_pair_int(json, "start", view->start);
        json_pair_int(json, "stop", view->stop);
        json_pair_int(json, "bytes", (int64_t)need->bytes);
        json_pair_int(json, "pages", (int64_t)need->units);
        json_pair_int(json, "clusters", (int64_t)need->clusters);
}

void report_ntuple_need(struct json *json, const struct roast_root_ntuple *ntuple,
                        const struct roast_rootfile_view *view)
{
        ROAST_CLEANUP(cleanup_free)
        struct roast_root_need *needs = calloc(ntuple->num_fields + 1, sizeof(*needs));
        struct roast_root_need total = { 0 };

        if (!needs || roast_root_ntuple_need(ntuple, view, &total) < 0) {
                json->error = ROAST_E_NOMEM;
                return;
        }
        roast_root_ntuple_needs(ntuple, view, needs);
        json_object(json);
        json_pair(json, "rntuple", ntuple->path);
        json_key(json, "ranges");
        json_array(json);
        for (size_t i = 0; i < ntuple->num_fields; i++) {
                if (roast_root_field_owner(ntuple, i, view) != i)
                        continue;
                report_row_begin(json);
                json_pair(json, "field", ntuple->fields[i].path);
                report_need(json, view, &needs[i]);
                report_row_end(json);
        }
        json_end(json);
        report_need(json, view, &total);
        json_end(json);
}
