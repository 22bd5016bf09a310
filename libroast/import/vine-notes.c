/*
 * Notes of the application in TaskVine's `transactions`
 *
 *     APPLICATION coffea_task {"task_id": 5, "item": "p_4", "file": "x.root", "start": 0, "stop":
 * 9}
 *
 * TaskVine itself does not know which chunk a task is. Our back end notes it at each submission.
 */

#include <string.h>

#include "import/vine-state.h"
#include "util/array.h"
#include "util/size.h"

/* The application's own note of what a task does */
struct vine_note {
        int64_t task_id;
        int64_t item;
        int64_t dataset, file, tree, uuid;
        int64_t start, stop;
};

/* 1, 0 if it is something else, or ROAST_E_NOMEM */
static int vine_read_note(struct vine *vine, const char *text, struct vine_note *note)
{
        struct json_reader in;
        struct json_text key, value;
        struct json_number number;
        bool kept = true;
        int r;

        if (json_reader_init(&in, text, strlen(text)) < 0)
                return ROAST_E_NOMEM;
        json_read_object(&in);
        while (json_read_key(&in, &key)) {
                const struct {
                        const char *name;
                        int64_t *number;
                        struct intern *intern;
                } known[] = {
                        { "task_id", &note->task_id, NULL },
                        { "start", &note->start, NULL },
                        { "stop", &note->stop, NULL },
                        { "item", &note->item, &vine->items },
                        { "dataset", &note->dataset, &vine->names },
                        { "file", &note->file, &vine->names },
                        { "tree", &note->tree, &vine->names },
                        { "uuid", &note->uuid, &vine->names },
                };
                size_t i = 0;
                enum json_type type;

                while (i < ROAST_ARRAY_SIZE(known) && !json_text_is(&key, known[i].name))
                        i++;
                type = json_read_type(&in);
                if (i < ROAST_ARRAY_SIZE(known) && type == JSON_STRING && known[i].intern) {
                        if (json_read_string(&in, &value)) {
                                *known[i].number =
                                        intern_put(known[i].intern, value.data, value.len);
                                kept = kept && *known[i].number >= 0;
                        }
                } else if (i < ROAST_ARRAY_SIZE(known) && type == JSON_NUMBER && !known[i].intern) {
                        if (json_read_number(&in, &number) && number.whole && number.integer >= 0)
                                *known[i].number = number.integer;
                } else {
                        json_read_skip(&in);
                }
        }
        r = json_reader_end(&in, NULL);
        json_reader_deinit(&in);
        return r == ROAST_E_NOMEM || !kept ? ROAST_E_NOMEM : r >= 0;
}

int vine_read_application(struct vine *vine, char *at)
{
        struct vine_note note = { VINE_NONE, VINE_NONE, VINE_NONE, VINE_NONE,
                                  VINE_NONE, VINE_NONE, VINE_NONE, VINE_NONE };
        struct vine_task *task;
        int64_t index;
        int r;

        if (strcmp(vine_word(&at), "coffea_task"))
                return 0;
        r = vine_read_note(vine, at, &note);
        if (r < 0)
                return roast_fail_nomem(vine->error);
        if (r == 0 || note.task_id < 0)
                return vine_skip(vine);
        index = vine_task_index(vine, note.task_id);
        if (index < 0)
                return (int)index;
        if (note.item >= 0) { /* a second submission of an item is another attempt at it */
                size_t known = vine->cap_items;

                if (ARRAY_ROOM(vine->item_roots, (size_t)note.item, vine->cap_items) < 0)
                        return roast_fail_nomem(vine->error);
                for (; known < vine->cap_items; known++)
                        vine->item_roots[known] = VINE_NONE;
                if (vine->item_roots[note.item] < 0)
                        vine->item_roots[note.item] = index;
                vine->tasks[index].root = vine->item_roots[note.item];
        }
        task = &vine->tasks[vine->tasks[index].root];
        if (note.file < 0 || note.start < 0 || note.stop < note.start)
                return 0; /* no chunk: preprocessing, merging */
        task->dataset = note.dataset;
        task->file = note.file;
        task->tree = note.tree;
        task->uuid = note.uuid;
        task->entry_start = note.start;
        task->entry_stop = note.stop;
        return 0;
}
