#pragma once
/*
 * The report page: everything that a run knows, to look at
 *
 * The page is one HTML file without any reference to the outside. Its data are
 * made by one function, whoever asks for them: they are written into the page,
 * or handed to a page that asks again while the run goes on.
 */

#include <stddef.h>

#include "roast-compare.h"
#include "roast-error.h"
#include "roast-run.h"

/*
 * The data of the page, in memory that the caller frees:
 *
 *   u32 length of the JSON | JSON, padded with blanks to 4 bytes | columns
 *
 * The JSON has what is written in words, and for each column an object {"type", "n", "at",
 * "unit", "delta"}: n values begin `at` bytes behind the JSON, all lowest bytes first, then all
 * second bytes, and so on, which packs better. They are f32, or whole numbers of as many bytes as
 * the largest needs, u8 to u64, in multiples of "unit" (1 where there is none): nanoseconds or
 * bytes. With "delta" each is the difference to the one before, modulo the range of the type.
 * Absent values are NaN or the highest number of the type.
 */
int roast_report_data(void **data, size_t *len, struct roast_run *run, struct roast_error *error);

/* The page with its data, in memory that the caller frees. */
int roast_report_html(char **html, size_t *len, struct roast_run *run, struct roast_error *error);

/*
 * The page as a file, complete or not at all; replaces a file of that name, unless that is a run:
 * ROAST_E_STATE.
 */
int roast_report_write(struct roast_run *run, const char *path, struct roast_error *error);

/*
 * The page of several runs: what differs around them, what changed, their key figures. Its JSON
 * has no columns: {"version", "comparison": as roast_comparison_to_json() writes it, "tables",
 * "runs": [{"start_utc_ms", "figures"}, ...]}.
 */
int roast_report_comparison(char **html, size_t *len, const struct roast_comparison *comparison,
                            struct roast_error *error);
int roast_report_write_comparison(const struct roast_comparison *comparison, const char *path,
                                  struct roast_error *error);
