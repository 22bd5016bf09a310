/* Tables in every format that the verbs print */

#include <stdio.h>

#include "cli.h"

const char *const cli_formats[] = { "text", "json", "markdown", "csv", NULL };
const char *const cli_prose_formats[] = { "text", "json", "markdown", NULL };

int cli_print_table(const char *verb, const struct roast_table *table, int format)
{
        return cli_print_table_part(verb, table, format, 0);
}

int cli_print_tables(const char *verb, const struct roast_tables *tables, int format)
{
        bool first = true;

        for (size_t i = 0; i < tables->n; i++) {
                const struct roast_table *table = &tables->tables[i];
                int code;

                if (!table->n_rows)
                        continue;
                if (!first)
                        putchar('\n');
                first = false;
                if (format == CLI_CSV)
                        printf("# %s\n", table->name);
                code = cli_print_table(verb, table, format);
                if (code != EXIT_GOOD)
                        return code;
        }
        return EXIT_GOOD;
}

int cli_print_table_part(const char *verb, const struct roast_table *table, int format, size_t rows)
{
        const struct roast_text_options options = { .color = cli_color(),
                                                    .width = cli_width(),
                                                    .rows = rows };
        struct roast_error error = { 0 };
        char *text = NULL;
        int r = 0;

        switch ((enum cli_format)format) {
        case CLI_TEXT:
                r = roast_table_to_text(&text, table, &options, &error);
                break;
        case CLI_JSON:
                r = roast_table_to_json(&text, table, &error);
                break;
        case CLI_CSV:
                r = roast_table_to_csv(&text, table, &error);
                break;
        case CLI_MARKDOWN:
                r = roast_table_to_markdown(&text, table, &error);
                break;
        }
        return r < 0 ? cli_fail(verb, "%s", error.message) : cli_print(verb, text);
}
