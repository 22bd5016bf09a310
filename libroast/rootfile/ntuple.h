#pragma once
/*
 * RNTuple
 *
 * The key holds an anchor, which points to a header (fields and columns) and a
 * footer (those added later, and groups of clusters); each group points to a
 * page list: for every cluster and column the places of its pages.
 */

#include "rootfile/directory.h"
#include "rootfile/envelope.h"

/* A projected field shows a column of another. */
struct alias {
        uint32_t column;
        uint32_t field;
};

/* An RNTuple while it is being read. */
struct ntuple_reader {
        struct rootfile *file;
        struct roast_root_ntuple *ntuple;
        uint64_t header_checksum;
        struct buf fields;   /* of struct roast_root_field */
        struct buf columns;  /* of struct roast_root_column */
        struct buf aliases;  /* of struct alias */
        struct buf clusters; /* of struct roast_root_cluster */
        struct buf pages;    /* of struct roast_root_page, by cluster */
};

int ntuple_read(struct rootfile *file, const struct found *found, struct roast_root_ntuple *ntuple,
                struct roast_error *error);

/* Four lists: fields, columns, alias columns, extra types; from header or footer. */
int schema_read(struct ntuple_reader *reader, struct cursor *cursor, struct roast_error *error);
/* When all fields and columns are there: paths, and which columns are whose. */
int schema_finish(struct ntuple_reader *reader, struct roast_error *error);

/* Appends clusters and pages of one page list. */
int pages_read(struct ntuple_reader *reader, const struct locator *locator, uint64_t expanded,
               struct roast_error *error);
/* Hands the pages to the columns, sums them up and looks at them. */
int pages_finish(struct ntuple_reader *reader, struct roast_error *error);
