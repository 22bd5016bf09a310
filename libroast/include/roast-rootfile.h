#pragma once
/*
 * What is in a ROOT file, from its metadata alone
 *
 *     struct roast_rootfile *file = NULL;
 *     r = roast_rootfile_open(&file, "nano.root", NULL, &error);
 *     for (size_t i = 0; i < file->num_trees; i++)
 *             puts(file->trees[i].path);
 *     roast_rootfile_free(file);
 *
 * TTrees and RNTuples of all directories, in file order, each in its highest
 * cycle. What could not be read is in `skipped` with the reason; it does not
 * hide the rest. All strings and arrays belong to the file object. Sizes are
 * bytes; entries count from 0; a range of entries is [start, stop).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "roast-error.h"

/* How a basket or a page is really stored, in the order of the names. */
enum roast_root_algorithm {
        ROAST_ROOT_LZ4,
        ROAST_ROOT_LZMA,
        ROAST_ROOT_NONE,    /* stored as it is */
        ROAST_ROOT_OLD,     /* deflate of the first ROOT versions */
        ROAST_ROOT_UNKNOWN, /* the place does not hold what it should */
        ROAST_ROOT_ZLIB,
        ROAST_ROOT_ZSTD,
        ROAST_ROOT_ALGORITHMS,
};

const char *roast_root_algorithm_name(enum roast_root_algorithm algorithm);

struct roast_root_counts {
        uint32_t of[ROAST_ROOT_ALGORITHMS];
};

struct roast_root_basket {
        int64_t first_entry;
        uint64_t seek;  /* place in the file; 0: embedded in the tree object */
        uint32_t bytes; /* on disk with its key; embedded: its data */
        enum roast_root_algorithm algorithm;
};

struct roast_root_branch {
        const char *path; /* names from the top branch on, joined by '/' */
        const char *name;
        const char *class_name;
        const char *type; /* of a plain branch with one leaf, or NULL */
        size_t parent;    /* its own number: a top branch */
        int64_t entries;
        int64_t compressed_bytes;   /* baskets on disk with their keys */
        int64_t uncompressed_bytes; /* as the branch tells it, with keys */
        int64_t zip_bytes;          /* what the branch says of itself */
        const struct roast_root_basket *baskets;
        size_t num_baskets;  /* on disk first, then embedded */
        size_t num_embedded; /* of these */
        int64_t embedded_bytes;
        int64_t end_entry; /* border behind the last basket */
        int32_t compress_setting;
        const char *elsewhere; /* the other file that has the baskets, or NULL */
        /* From the baskets themselves; zero if they were not looked at. */
        struct roast_root_counts algorithms; /* baskets on disk */
        struct roast_root_counts blocks;     /* compressed blocks in them */
        int64_t basket_uncompressed;
        int64_t keylen_sum;
};

struct roast_root_tree {
        const char *path; /* key names joined by '/' */
        const char *class_name;
        const char *name;
        const char *title;
        int32_t cycle;
        const int32_t *other_cycles; /* ascending */
        size_t num_other_cycles;
        int64_t entries;
        int64_t zip_bytes; /* these two as stored, sometimes wrong */
        int64_t tot_bytes;
        int64_t compressed_bytes; /* sums over the branches */
        int64_t uncompressed_bytes;
        const struct roast_root_branch *branches; /* depth first */
        size_t num_branches;
        size_t num_top_branches;
        size_t num_baskets;
        size_t num_embedded;
        size_t num_clusters; /* between entries where all branches begin a basket */
        int64_t metadata_bytes;
        int64_t metadata_objlen;
        struct roast_root_counts algorithms;
        struct roast_root_counts blocks;
};

struct roast_root_page {
        uint64_t seek;
        uint64_t bytes;    /* without the checksum */
        uint64_t elements; /* of the column */
        uint32_t column;
        uint32_t cluster;
        enum roast_root_algorithm algorithm;
        bool checksum; /* 8 bytes behind the page */
};

#define ROAST_ROOT_SETTINGS_MAX 8

struct roast_root_column {
        uint32_t field;
        uint16_t type;
        uint16_t bits;
        uint16_t representation;
        bool deferred;
        const struct roast_root_page *pages; /* in the order of the clusters */
        size_t num_pages;
        uint64_t elements;
        uint64_t compressed_bytes;
        uint64_t uncompressed_bytes;
        uint64_t checksum_bytes;
        uint64_t unique_bytes; /* shared pages once */
        uint32_t suppressed_clusters;
        uint32_t settings[ROAST_ROOT_SETTINGS_MAX]; /* distinct, ascending */
        size_t num_settings;
        struct roast_root_counts algorithms;
};

/* "SplitInt32" and the like; "Unknown" for a type of a newer version. */
const char *roast_root_column_type_name(uint16_t type);

struct roast_root_field {
        uint32_t parent; /* its own number: a top field */
        const char *path;
        const char *name;
        const char *type;
        uint16_t role;
        bool projected;
        const uint32_t *columns; /* its own, then those of others that it shows */
        size_t num_columns;      /* its own */
        size_t num_aliases;
        uint64_t compressed_bytes;
        uint64_t subtree_compressed_bytes;
};

struct roast_root_cluster {
        uint64_t first_entry;
        uint64_t entries;
};

struct roast_root_ntuple {
        const char *path;
        const char *name;
        const char *writer;
        int32_t cycle;
        const int32_t *other_cycles;
        size_t num_other_cycles;
        uint16_t version[4];
        uint64_t entries;
        const struct roast_root_field *fields;
        size_t num_fields;
        size_t num_top_fields;
        size_t extension_fields; /* the last ones, from the footer */
        const struct roast_root_column *columns;
        size_t num_columns;
        size_t extension_columns;
        size_t num_alias_columns;
        const struct roast_root_cluster *clusters;
        size_t num_clusters;
        size_t num_cluster_groups;
        size_t num_pages;
        uint64_t compressed_bytes;
        uint64_t uncompressed_bytes;
        uint64_t checksum_bytes;
        uint64_t unique_bytes;
        uint64_t header_bytes; /* stored and expanded sizes of the envelopes */
        uint64_t header_len;
        uint64_t footer_bytes;
        uint64_t footer_len;
        struct roast_root_counts algorithms;
};

struct roast_root_skipped {
        const char *path;
        const char *what; /* class of the object */
        int code;         /* ROAST_E_* */
        const char *reason;
};

struct roast_root_class {
        const char *name;
        size_t keys;
};

struct roast_rootfile {
        const char *path;
        uint64_t size;
        int32_t version;
        bool is64;
        uint64_t begin;
        uint64_t end;
        int32_t compress_setting;
        int units;
        size_t num_keys;
        const struct roast_root_class *classes; /* by name */
        size_t num_classes;
        const char *const *directories;
        size_t num_directories;
        const struct roast_root_tree *trees;
        size_t num_trees;
        const struct roast_root_ntuple *ntuples;
        size_t num_ntuples;
        const struct roast_root_skipped *skipped;
        size_t num_skipped;
        uint64_t reads; /* what opening cost */
        uint64_t bytes_read;
};

struct roast_rootfile_options {
        bool without_algorithms; /* do not look at baskets and pages */
};

/*
 * ROAST_E_NOENT, ROAST_E_IO: the file cannot be read. ROAST_E_FORMAT: it is no
 * ROOT file. ROAST_E_CORRUPT: it is damaged so that its keys cannot be found,
 * or that none of its trees can be read.
 */
int roast_rootfile_open(struct roast_rootfile **ret, const char *path,
                        const struct roast_rootfile_options *options, struct roast_error *error);
struct roast_rootfile *roast_rootfile_free(struct roast_rootfile *file);

/* Branches or top fields that belong together by their names: Jet_pt, Jet_eta, nJet. */
struct roast_root_collection {
        char *name;
        size_t members;
        int64_t compressed_bytes;
        int64_t uncompressed_bytes;
};

/* Largest first. The caller frees them with roast_root_collections_free(). */
int roast_root_tree_collections(const struct roast_root_tree *tree,
                                struct roast_root_collection **ret, size_t *n);
int roast_root_ntuple_collections(const struct roast_root_ntuple *ntuple,
                                  struct roast_root_collection **ret, size_t *n);
void roast_root_collections_free(struct roast_root_collection *collections, size_t n);

/* Something about a tree that makes reading it slow; the name is for programs. */
struct roast_root_hint {
        const char *name;
        char text[200];
};

#define ROAST_ROOT_HINTS_MAX 6

/* Both return how many hints there are. */
size_t roast_root_tree_hints(const struct roast_root_tree *tree,
                             struct roast_root_hint hints[ROAST_ROOT_HINTS_MAX]);
size_t roast_root_ntuple_hints(const struct roast_root_ntuple *ntuple,
                               struct roast_root_hint hints[ROAST_ROOT_HINTS_MAX]);

/* What of a file to tell; all-zero tells of every tree, without branches. */
struct roast_rootfile_view {
        const char *tree; /* this one only */
        bool branches;    /* list branches, fields, columns */
        bool range;       /* what the entries [start, stop) take */
        int64_t start;
        int64_t stop;
        const char *const *patterns; /* of the branches for the range; none: all */
        size_t num_patterns;
};

/* What reading a range of entries takes; the functions below add to it. */
struct roast_root_need {
        uint64_t bytes; /* on disk, compressed */
        uint64_t units; /* baskets on disk, or pages */
        uint64_t embedded;
        uint64_t clusters; /* of an RNTuple: those that overlap */
};

/* Whether a pattern (glob) fits the path of the branch, or of one above it. */
bool roast_root_branch_wanted(const struct roast_root_tree *tree, size_t branch,
                              const struct roast_rootfile_view *view);
void roast_root_branch_need(const struct roast_root_branch *branch, int64_t start, int64_t stop,
                            struct roast_root_need *need);
/* All the branches that are wanted. */
void roast_root_tree_need(const struct roast_root_tree *tree,
                          const struct roast_rootfile_view *view, struct roast_root_need *need);

/*
 * The number of the field that answers for this one: the uppermost on its path
 * that a pattern fits (the top one without patterns), or SIZE_MAX.
 */
size_t roast_root_field_owner(const struct roast_root_ntuple *ntuple, size_t field,
                              const struct roast_rootfile_view *view);
/* Fields that answer, each with all that it answers for: `needs` has one for every field. */
void roast_root_ntuple_needs(const struct roast_root_ntuple *ntuple,
                             const struct roast_rootfile_view *view, struct roast_root_need *needs);
/* All of them together, columns that several fields show once; 0 or ROAST_E_NOMEM. */
int roast_root_ntuple_need(const struct roast_root_ntuple *ntuple,
                           const struct roast_rootfile_view *view, struct roast_root_need *need);

/* The file as a JSON object, in a string that the caller frees. */
int roast_rootfile_json(const struct roast_rootfile *file, const struct roast_rootfile_view *view,
                        char **ret, struct roast_error *error);
