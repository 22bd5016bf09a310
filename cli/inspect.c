/* `roast inspect`: what is in ROOT files, and what a chunk of them takes to read. */

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"
#include "inspect.h"
#include "util/cleanup.h"
#include "util/size.h"

struct options {
        enum cli_format format;
        struct roast_rootfile_view view;
        int64_t cycle; /* of the tree; -1: none is named */
        char **files;
        size_t num_files;
};

static const char help[] =
        "Usage: roast inspect FILE.root [TREE] [OPTION]...\n"
        "       roast inspect FILE.root... [--format text|json|csv|markdown]\n"
        "Tells what is in ROOT files (TTree, RNTuple), from their metadata: entries,\n"
        "branches, baskets, bytes, compression as really used.\n\n"
        "  -b, --branches          list the branches, or the fields of an RNTuple\n"
        "  -r, --range START:STOP  what reading these entries takes\n"
        "  -B, --branch PATTERN    of these branches only; repeat it for more\n"
        "  -f, --format FORMAT     text (default), json, csv or markdown\n"
        "  -h, --help              this text\n";

/* START:STOP, either of which may be left out. */
static bool inspect_parse_range(const char *text, struct roast_rootfile_view *view)
{
        const char *colon = strchr(text, ':');
        char *end;

        if (!colon)
                return false;
        view->start = strtoll(text, &end, 10);
        if (end != colon)
                return false;
        view->stop = colon[1] ? strtoll(colon + 1, &end, 10) : INT64_MAX;
        view->range = true;
        return (!colon[1] || !*end) && view->start >= 0 && view->stop >= view->start;
}

/* "Events;1", as keys are often written, is Events, and its cycle 1. */
static void inspect_take_tree(struct options *options, char *name)
{
        char *cut = strrchr(name, ';');

        options->view.tree = name;
        if (!cut || !cut[1] || cut[1 + strspn(cut + 1, "0123456789")])
                return;
        options->cycle = strtoll(cut + 1, NULL, 10);
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

/* A second word that names no file is the tree. */
static void inspect_take_arguments(struct options *options, char **words, size_t n)
{
        options->files = words;
        options->num_files = n;
        if (n == 2 && !inspect_names_file(words[1])) {
                inspect_take_tree(options, words[1]);
                options->num_files = 1;
        }
}

/* 0: go on; 1: help was given; negative: the arguments are wrong. */
static int inspect_parse(struct options *options, const char **patterns, int argc, char **argv)
{
        static const struct option known[] = {
                { "branches", no_argument, NULL, 'b' },
                { "range", required_argument, NULL, 'r' },
                { "branch", required_argument, NULL, 'B' },
                { "format", required_argument, NULL, 'f' },
                { "help", no_argument, NULL, 'h' },
                { 0 },
        };
        int c;

        while ((c = getopt_long(argc, argv, "br:B:f:h", known, NULL)) != -1) {
                switch (c) {
                case 'b':
                        options->view.branches = true;
                        break;
                case 'r':
                        if (!inspect_parse_range(optarg, &options->view)) {
                                cli_fail("inspect", "--range takes START:STOP, not \"%s\"", optarg);
                                return -1;
                        }
                        break;
                case 'B':
                        patterns[options->view.num_patterns++] = optarg;
                        break;
                case 'f':
                        if (cli_format("inspect", optarg, &options->format) < 0)
                                return -1;
                        break;
                case 'h':
                        fputs(help, stdout);
                        return 1;
                default:
                        cli_usage("inspect");
                        return -1;
                }
        }
        options->view.patterns = patterns;
        if (options->view.num_patterns && !options->view.range) {
                options->view.range = true;
                options->view.stop = INT64_MAX;
        }
        if (options->view.branches && options->view.range && options->format != CLI_JSON) {
                cli_fail("inspect", "--branches is another table than that of --range and "
                                    "--branch: ask for one of them, or for --format json");
                return -1;
        }
        if (optind >= argc) {
                cli_fail("inspect", "which file?");
                cli_usage("inspect");
                return -1;
        }
        inspect_take_arguments(options, argv + optind, (size_t)(argc - optind));
        return 0;
}

/* The cycle of a tree that is told of, the highest; INT64_MIN: there is no such tree */
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

static int inspect_check_tree(const struct options *options, const struct roast_rootfile *file,
                              struct roast_error *error)
{
        const char *tree = options->view.tree;
        int64_t cycle = tree ? inspect_cycle_of(file, tree) : 0;

        if (cycle == INT64_MIN)
                return roast_fail(error, ROAST_E_NOENT, "no tree \"%s\"", tree);
        if (tree && options->cycle >= 0 && options->cycle != cycle)
                return roast_fail(error, ROAST_E_NOENT,
                                  "of tree \"%s\" only the highest cycle is read, and that is"
                                  " \"%s;%lld\"",
                                  tree, tree, (long long)cycle);
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
static int inspect_check_patterns(const struct options *options, const struct roast_rootfile *file,
                                  struct roast_error *error)
{
        struct roast_rootfile_view one = options->view;

        one.num_patterns = 1;
        for (size_t i = 0; i < options->view.num_patterns; i++) {
                one.patterns = options->view.patterns + i;
                if (!inspect_fits_some(file, &one))
                        return roast_fail(error, ROAST_E_NOENT, "no branch fits \"%s\"",
                                          one.patterns[0]);
        }
        return 0;
}

/* An open end of the range is the end of the longest tree that is asked for. */
static struct roast_rootfile_view inspect_view_for(const struct options *options,
                                                   const struct roast_rootfile *file)
{
        struct roast_rootfile_view view = options->view;
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
static void inspect_tell_skipped(const struct roast_rootfile *file)
{
        for (size_t i = 0; i < file->num_skipped; i++)
                cli_fail("inspect", "%s: skipped %s \"%s\": %s", file->path, file->skipped[i].what,
                         file->skipped[i].path, file->skipped[i].reason);
}

/* Tells of one file, or adds its rows to the table of all. */
static int inspect_file(const struct options *options, const char *path, bool first,
                        struct roast_table *table)
{
        struct roast_rootfile_view view = { 0 };
        struct roast_rootfile *file = NULL;
        struct roast_error error = { 0 };
        int code = EXIT_GOOD, r;

        r = roast_rootfile_open(&file, path, NULL, &error);
        if (r >= 0) {
                view = inspect_view_for(options, file);
                if (options->format != CLI_JSON)
                        inspect_tell_skipped(file);
                r = inspect_check_tree(options, file, &error);
        }
        if (r >= 0)
                r = inspect_check_patterns(options, file, &error);
        if (r >= 0 && options->format == CLI_JSON)
                r = inspect_print_json(file, &view, first, &error);
        else if (r >= 0 && options->format == CLI_TEXT && options->num_files == 1)
                code = inspect_text(file, &view);
        else if (r >= 0 && inspect_add(table, inspect_what(&view), file, &view) < 0)
                r = roast_fail_nomem(&error);
        roast_rootfile_free(file);
        return r < 0 ? cli_fail("inspect", "%s: %s", path, error.message) : code;
}

/* JSON of several files is an array. A file that cannot be read does not hide the others. */
static int inspect_files(const struct options *options)
{
        ROAST_CLEANUP(roast_table_deinit)
        struct roast_table table = inspect_table(inspect_what(&options->view), false);
        bool array = options->format == CLI_JSON && options->num_files > 1;
        int code = EXIT_GOOD, r;
        size_t good = 0;

        if (array)
                putchar('[');
        for (size_t i = 0; i < options->num_files; i++) {
                r = inspect_file(options, options->files[i], good == 0, &table);
                if (r != EXIT_GOOD)
                        code = r;
                else
                        good++;
        }
        if (array)
                putchar(']');
        if (options->format == CLI_JSON && (array || good))
                putchar('\n');
        if (options->format == CLI_JSON || (options->format == CLI_TEXT && options->num_files == 1))
                return code;
        r = good ? cli_print_table("inspect", &table, options->format) : code;
        return r == EXIT_GOOD ? code : r;
}

int verb_inspect(int argc, char **argv)
{
        ROAST_CLEANUP(cleanup_free)
        const char **patterns = calloc((size_t)argc + 1, sizeof(*patterns));
        struct options options = { .format = CLI_TEXT, .cycle = -1 };
        int r;

        if (!patterns)
                return cli_fail("inspect", "out of memory");
        r = inspect_parse(&options, patterns, argc, argv);
        if (r != 0)
                return r > 0 ? EXIT_GOOD : EXIT_CANNOT;
        return inspect_files(&options);
}
