/* `roast inspect`: what is in ROOT files, and what a chunk of them takes to read. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"
#include "inspect.h"
#include "util/cleanup.h"
#include "util/size.h"

#define PATTERNS_MAX 1024

static int format;
static struct roast_rootfile_view wanted;
static const char *patterns[PATTERNS_MAX];
static int64_t cycle = -1; /* of the tree; -1: none is named */

/* START:STOP, either of which may be left out. */
static int inspect_take_range(const char *text)
{
        const char *colon = strchr(text, ':');
        char *end = NULL;

        wanted.start = strtoll(text, &end, 10);
        if (colon && end == colon) {
                wanted.stop = colon[1] ? strtoll(colon + 1, &end, 10) : INT64_MAX;
                wanted.range = true;
                if ((!colon[1] || !*end) && wanted.start >= 0 && wanted.stop >= wanted.start)
                        return 0;
        }
        cli_fail("inspect", "--range takes START:STOP, not \"%s\"", text);
        return -1;
}

static int inspect_take_pattern(const char *text)
{
        if (wanted.num_patterns == PATTERNS_MAX) {
                cli_fail("inspect", "more than %d patterns", PATTERNS_MAX);
                return -1;
        }
        patterns[wanted.num_patterns++] = text;
        return 0;
}

/* "Events;1", as keys are often written, is Events, and its cycle 1. */
static void inspect_take_tree(char *name)
{
        char *cut = strrchr(name, ';');

        wanted.tree = name;
        if (!cut || !cut[1] || cut[1 + strspn(cut + 1, "0123456789")])
                return;
        cycle = strtoll(cut + 1, NULL, 10);
        *cut = '\0';
}

/* A folder may well have a tree's name; what can be read is a regular file. */
static bool inspect_names_file(const char *word)
{
        size_t len = strlen(word);
        struct stat st;

        return (len >= 5 && !strcmp(word + len - 5, ".root")) ||
               (stat(word, &st) == 0 && S_ISREG(st.st_mode));
}

/* The cycle of a tree that is read, the highest; INT64_MIN: there is no such tree */
static int64_t inspect_cycle_of(const struct roast_rootfile *file, const char *path)
{
        for (size_t i = 0; i < file->num_trees; i++)
                if (strcmp(file->trees[i].path, path) == 0)
                        return file->trees[i].cycle;
        for (size_t i = 0; i < file->num_ntuples; i++)
                if (strcmp(file->ntuples[i].path, path) == 0)
                        return file->ntuples[i].cycle;
        return INT64_MIN;
}

static int inspect_check_tree(const struct roast_rootfile *file, struct roast_error *error)
{
        const char *tree = wanted.tree;
        int64_t highest = tree ? inspect_cycle_of(file, tree) : 0;

        if (highest == INT64_MIN)
                return roast_fail(error, ROAST_E_NOENT, "no tree \"%s\"", tree);
        if (tree && cycle >= 0 && cycle != highest)
                return roast_fail(error, ROAST_E_NOENT,
                                  "of tree \"%s\" only the highest cycle is read, and that is"
                                  " \"%s;%lld\"",
                                  tree, tree, (long long)highest);
        return 0;
}

static bool inspect_fits_some(const struct roast_rootfile *file,
                              const struct roast_rootfile_view *view)
{
        for (size_t i = 0; i < file->num_trees; i++)
                for (size_t k = 0; k < file->trees[i].num_branches; k++)
                        if (inspect_wanted(view, file->trees[i].path) &&
                            roast_root_branch_wanted(&file->trees[i], k, view))
                                return true;
        for (size_t i = 0; i < file->num_ntuples; i++)
                for (size_t k = 0; k < file->ntuples[i].num_fields; k++)
                        if (inspect_wanted(view, file->ntuples[i].path) &&
                            roast_root_field_owner(&file->ntuples[i], k, view) != SIZE_MAX)
                                return true;
        return false;
}

/* The sum would be right for what was not meant: each pattern has to fit something. */
static int inspect_check_patterns(const struct roast_rootfile *file, struct roast_error *error)
{
        struct roast_rootfile_view one = wanted;

        one.num_patterns = 1;
        for (size_t i = 0; i < wanted.num_patterns; i++) {
                one.patterns = patterns + i;
                if (!inspect_fits_some(file, &one))
                        return roast_fail(error, ROAST_E_NOENT, "no branch fits \"%s\"",
                                          one.patterns[0]);
        }
        return 0;
}

/* An open end of the range is the end of the longest tree that is asked for. */
static struct roast_rootfile_view inspect_view_for(const struct roast_rootfile *file)
{
        struct roast_rootfile_view view = wanted;
        int64_t entries = 0;

        for (size_t i = 0; i < file->num_trees; i++)
                if (inspect_wanted(&view, file->trees[i].path) && file->trees[i].entries > entries)
                        entries = file->trees[i].entries;
        for (size_t i = 0; i < file->num_ntuples; i++)
                if (inspect_wanted(&view, file->ntuples[i].path) &&
                    (int64_t)file->ntuples[i].entries > entries)
                        entries = (int64_t)file->ntuples[i].entries;
        if (view.stop == INT64_MAX)
                view.stop = entries;
        return view;
}

static int inspect_print_json(const struct roast_rootfile *file,
                              const struct roast_rootfile_view *view, bool first,
                              struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_free) char *text = NULL;
        int r;

        r = roast_rootfile_json(file, view, &text, error);
        if (r < 0)
                return r;
        fputs(first ? "" : ",\n", stdout);
        fputs(text, stdout);
        return 0;
}

/* Names what was left out of the answer. */
static void inspect_report_skipped(const struct roast_rootfile *file)
{
        for (size_t i = 0; i < file->num_skipped; i++)
                cli_fail("inspect", "%s: skipped %s \"%s\": %s", file->path, file->skipped[i].what,
                         file->skipped[i].path, file->skipped[i].reason);
}

/* Prints one file, or adds its rows to the table of all. */
static int inspect_file(const char *path, bool alone, bool first, struct roast_table *table)
{
        struct roast_rootfile_view view = { 0 };
        struct roast_rootfile *file = NULL;
        struct roast_error error = { 0 };
        int code = EXIT_GOOD, r;

        r = roast_rootfile_open(&file, path, NULL, &error);
        if (r >= 0) {
                view = inspect_view_for(file);
                if (format != CLI_JSON)
                        inspect_report_skipped(file);
                r = inspect_check_tree(file, &error);
        }
        if (r >= 0)
                r = inspect_check_patterns(file, &error);
        if (r >= 0 && format == CLI_JSON)
                r = inspect_print_json(file, &view, first, &error);
        else if (r >= 0 && format == CLI_TEXT && alone)
                code = inspect_text(file, &view);
        else if (r >= 0 && inspect_add(table, inspect_what(&view), file, &view) < 0)
                r = roast_fail_nomem(&error);
        roast_rootfile_free(file);
        return r < 0 ? cli_fail("inspect", "%s: %s", path, error.message) : code;
}

/* JSON of several files is an array. A file that cannot be read does not hide the others. */
static int inspect_files(size_t n, char **paths)
{
        ROAST_CLEANUP(roast_table_deinit)
        struct roast_table table = inspect_table(inspect_what(&wanted), false);
        bool array = format == CLI_JSON && n > 1;
        int code = EXIT_GOOD, r;
        size_t good = 0;

        if (array)
                putchar('[');
        for (size_t i = 0; i < n; i++) {
                r = inspect_file(paths[i], n == 1, good == 0, &table);
                if (r != EXIT_GOOD)
                        code = r;
                else
                        good++;
        }
        if (array)
                putchar(']');
        if (format == CLI_JSON && (array || good))
                putchar('\n');
        if (format == CLI_JSON || (format == CLI_TEXT && n == 1))
                return code;
        r = good ? cli_print_table("inspect", &table, format) : code;
        return r == EXIT_GOOD ? code : r;
}

/* A second word that names no file is the tree. */
static int inspect_words(int n, char **words)
{
        wanted.patterns = patterns;
        if (wanted.num_patterns && !wanted.range) {
                wanted.range = true;
                wanted.stop = INT64_MAX;
        }
        if (wanted.branches && wanted.range && format != CLI_JSON)
                return cli_fail("inspect",
                                "--branches prints another table than --range and --branch: "
                                "choose one of them, or --format json");
        if (n == 2 && !inspect_names_file(words[1])) {
                inspect_take_tree(words[1]);
                n = 1;
        }
        return inspect_files((size_t)n, words);
}

static const struct cli_option inspect_options[] = {
        { "branches", 'b', NULL, "list the branches, or the fields of an RNTuple",
          .flag = &wanted.branches },
        { "range", 'r', "START:STOP", "show what reading these entries takes",
          .take = inspect_take_range },
        { "branch", 'B', "PATTERN", "only of these branches; may be repeated",
          .take = inspect_take_pattern },
        CLI_FORMAT_OPTION(cli_formats, &format),
        { 0 },
};

const struct cli_verb verb_inspect = {
        .name = "inspect",
        .summary = "show what is in ROOT files, and what reading a chunk takes",
        .arguments = "FILE.root... [TREE]",
        .least = 1,
        .about = "Shows what is in ROOT files (TTree, RNTuple), from their metadata: entries,\n"
                 "branches, baskets, bytes, compression as really used.\n",
        .options = inspect_options,
        .completes = ".root",
        .run = inspect_words,
};
