/* The JSON answer about a ROOT file: the frame, and what its parts share. */

#include <stdlib.h>
#include <string.h>

#include "rootfile/report.h"
#include "util/cleanup.h"

void report_counts(struct json *json, const char *key, const struct roast_root_counts *counts)
{
        json_key(json, key);
        json_object(json);
        for (unsigned int i = 0; i < ROAST_ROOT_ALGORITHMS; i++)
                if (counts->of[i])
                        json_pair_int(json, roast_root_algorithm_name(i), counts->of[i]);
        json_end(json);
}

void report_cycles(struct json *json, int32_t cycle, const int32_t *others, size_t n)
{
        json_pair_int(json, "cycle", cycle);
        json_key(json, "other_cycles");
        json_array(json);
        for (size_t i = 0; i < n; i++)
                json_int(json, others[i]);
        json_end(json);
}

void report_row_begin(struct json *json)
{
        json_object(json);
        json->compact = true;
}

void report_row_end(struct json *json)
{
        json_end(json);
        json->compact = false;
}

void report_collections(struct json *json, struct roast_root_collection *collections, size_t n)
{
        json_key(json, "collections");
        json_array(json);
        for (size_t i = 0; i < n; i++) {
                report_row_begin(json);
                json_pair(json, "name", collections[i].name);
                json_pair_int(json, "members", (int64_t)collections[i].members);
                json_pair_int(json, "compressed_bytes", collections[i].compressed_bytes);
                json_pair_int(json, "uncompressed_bytes", collections[i].uncompressed_bytes);
                report_row_end(json);
        }
        json_end(json);
        roast_root_collections_free(collections, n);
}

void report_hints(struct json *json, const struct roast_root_hint *hints, size_t n)
{
        json_key(json, "hints");
        json_array(json);
        for (size_t i = 0; i < n; i++) {
                report_row_begin(json);
                json_pair(json, "name", hints[i].name);
                json_pair(json, "text", hints[i].text);
                report_row_end(json);
        }
        json_end(json);
}

static void report_file(struct json *json, const struct roast_rootfile *file)
{
        const char *slash = strrchr(file->path, '/');

        json_pair(json, "file", slash ? slash + 1 : file->path);
        json_pair(json, "path", file->path);
        json_pair_int(json, "size", (int64_t)file->size);
        json_key(json, "header");
        report_row_begin(json);
        json_pair_int(json, "version", file->version);
        json_pair_bool(json, "is64", file->is64);
        json_pair_int(json, "begin", (int64_t)file->begin);
        json_pair_int(json, "end", (int64_t)file->end);
        json_pair_int(json, "compress", file->compress_setting);
        json_pair_int(json, "units", file->units);
        report_row_end(json);
        json_pair_int(json, "num_keys", (int64_t)file->num_keys);
        json_key(json, "classes");
        report_row_begin(json);
        for (size_t i = 0; i < file->num_classes; i++)
                json_pair_int(json, file->classes[i].name, (int64_t)file->classes[i].keys);
        report_row_end(json);
        json_key(json, "directories");
        json_array(json);
        for (size_t i = 0; i < file->num_directories; i++)
                json_string(json, file->directories[i]);
        json_end(json);
}

static void report_skipped(struct json *json, const struct roast_rootfile *file)
{
        json_key(json, "skipped");
        json_array(json);
        for (size_t i = 0; i < file->num_skipped; i++) {
                report_row_begin(json);
                json_pair(json, "path", file->skipped[i].path);
                json_pair(json, "class", file->skipped[i].what);
                json_pair(json, "reason", file->skipped[i].reason);
                report_row_end(json);
        }
        json_end(json);
}

static bool report_wanted(const struct roast_rootfile_view *view, const char *path)
{
        return !view->tree || strcmp(view->tree, path) == 0;
}

static void report_chunks(struct json *json, const struct roast_rootfile *file,
                          const struct roast_rootfile_view *view)
{
        json_key(json, "chunks");
        json_array(json);
        for (size_t i = 0; i < file->num_trees; i++)
                if (report_wanted(view, file->trees[i].path))
                        report_tree_need(json, &file->trees[i], view);
        for (size_t i = 0; i < file->num_ntuples; i++)
                if (report_wanted(view, file->ntuples[i].path))
                        report_ntuple_need(json, &file->ntuples[i], view);
        json_end(json);
}

int roast_rootfile_json(const struct roast_rootfile *file, const struct roast_rootfile_view *view,
                        char **ret, struct roast_error *error)
{
        ROAST_CLEANUP(buf_deinit) struct buf out = BUF_INIT;
        struct json json = { .out = &out };
        char *text;

        json_object(&json);
        report_file(&json, file);
        json_key(&json, "trees");
        json_array(&json);
        for (size_t i = 0; i < file->num_trees; i++)
                if (report_wanted(view, file->trees[i].path))
                        report_tree(&json, &file->trees[i], view->branches);
        json_end(&json);
        json_key(&json, "rntuples");
        json_array(&json);
        for (size_t i = 0; i < file->num_ntuples; i++)
                if (report_wanted(view, file->ntuples[i].path))
                        report_ntuple(&json, &file->ntuples[i], view->branches);
        json_end(&json);
        if (view->range)
                report_chunks(&json, file, view);
        report_skipped(&json, file);
        json_end(&json);
        if (json.error < 0)
                return roast_fail_nomem(error);
        text = buf_release_string(&out);
        if (!text)
                return roast_fail_nomem(error);
        *ret = text;
        return 0;
}
