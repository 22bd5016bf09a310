/* Attempts that ended without a result: see failures.h. */

#include <stdlib.h>
#include <string.h>

#include "metrics/failures.h"
#include "record/chunk.h"
#include "util/array.h"
#include "util/text.h"

#define GROUPS_MAX 500 /* errors of yet other kinds are one group */

struct failure_note {
        size_t group;
        uint64_t chunk; /* bytes_key() */
};

void failures_deinit(struct failures *failures)
{
        free(failures->notes);
        free(failures->keys);
        *failures = (struct failures){ 0 };
}

/* A text without its digits, which differ between errors of one kind */
static uint64_t failures_hash_words(uint64_t key, const char *text, size_t len)
{
        while (len) {
                size_t digits = 0, words = 0;

                while (digits < len && text[digits] >= '0' && text[digits] <= '9')
                        digits++;
                text += digits;
                len -= digits;
                while (words < len && !(text[words] >= '0' && text[words] <= '9'))
                        words++;
                key = run_hash(key, text, words);
                text += words;
                len -= words;
        }
        return key;
}

static uint64_t failures_key_of(const struct collect *collect, const struct run_value *values,
                                int64_t outcome)
{
        uint64_t key = run_hash(0, &outcome, sizeof(outcome));
        size_t len;
        const char *text = collect_text(collect, &values[CHUNK_ERROR_TYPE], &len);

        key = run_hash(key, text ? text : "", len);
        text = collect_text(collect, &values[CHUNK_ERROR_MESSAGE], &len);
        return text ? failures_hash_words(key, text, len) : key;
}

static int failures_copy(const struct collect *collect, char **ret, const struct run_value *value)
{
        size_t len;
        const char *text = collect_text(collect, value, &len);

        *ret = text ? text_copy(text, len) : NULL;
        return text && !*ret ? ROAST_E_NOMEM : 0;
}

static int failures_name_group(const struct collect *collect, struct roast_failure *failure,
                               const struct run_value *values)
{
        if (failures_copy(collect, &failure->error_type, &values[CHUNK_ERROR_TYPE]) < 0 ||
            failures_copy(collect, &failure->error_message, &values[CHUNK_ERROR_MESSAGE]) < 0)
                return ROAST_E_NOMEM;
        return failures_copy(collect, &failure->file, &values[CHUNK_FILE]);
}

/* Groups are few: errors of a kind come by the hundred. */
static int failures_group_of(struct failures *failures, size_t *ret, const struct run_value *values,
                             int64_t outcome)
{
        struct roast_summary *summary = failures->collect->summary;
        uint64_t key = failures_key_of(failures->collect, values, outcome);
        struct roast_failure *failure;
        size_t n = summary->n_failures, cap = failures->cap;

        for (*ret = 0; *ret < n; ++*ret)
                if (failures->keys[*ret] == key || *ret == GROUPS_MAX)
                        return 0;
        if (ARRAY_ROOM(failures->keys, n, cap) < 0 ||
            ARRAY_ROOM(summary->failures, n, failures->cap) < 0)
                return ROAST_E_NOMEM;
        failures->keys[n] = key;
        failure = &summary->failures[n];
        *failure = (struct roast_failure){ .outcome = (int)outcome };
        summary->n_failures++;
        if (n == GROUPS_MAX)
                return (failure->error_type = strdup("(others)")) ? 0 : ROAST_E_NOMEM;
        return failures_name_group(failures->collect, failure, values);
}

int failures_add(struct failures *failures, const struct run_value *values, int64_t outcome,
                 uint64_t chunk)
{
        struct roast_failure *failure;
        struct failure_note note = { .chunk = chunk };

        if (failures_group_of(failures, &note.group, values, outcome) < 0)
                return ROAST_E_NOMEM;
        if (ARRAY_ROOM(failures->notes, failures->n_notes, failures->cap_notes) < 0)
                return ROAST_E_NOMEM;
        failures->notes[failures->n_notes++] = note;
        failure = &failures->collect->summary->failures[note.group];
        failure->attempts++;
        if (values[CHUNK_WALL_NS].type != RUN_NULL)
                failure->wall_s += run_number(&values[CHUNK_WALL_NS]) / 1e9;
        return 0;
}

static int failures_by_attempts(const void *a, const void *b)
{
        const struct roast_failure *x = a, *y = b;

        if (x->attempts != y->attempts)
                return x->attempts < y->attempts ? 1 : -1;
        if (x->wall_s != y->wall_s)
                return x->wall_s < y->wall_s ? 1 : -1;
        if (x->outcome != y->outcome)
                return x->outcome < y->outcome ? -1 : 1;
        return strcmp(x->error_message ? x->error_message : "",
                      y->error_message ? y->error_message : "");
}

void failures_end(struct failures *failures, const struct byte_walk *walk)
{
        struct roast_summary *summary = failures->collect->summary;

        for (size_t i = 0; i < failures->n_notes; i++) {
                const struct failure_note *note = &failures->notes[i];

                if (bytes_finished(walk, note->chunk))
                        summary->failures[note->group].recovered++;
        }
        if (summary->n_failures)
                qsort(summary->failures, summary->n_failures, sizeof(*summary->failures),
                      failures_by_attempts);
}
