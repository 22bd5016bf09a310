/* Tasks, workers and texts of a TaskVine run by their numbers: see vine-state.h. */

#include <string.h>

#include "import/vine-state.h"
#include "util/array.h"
#include "util/text.h"

int64_t vine_put(struct vine *vine, struct intern *intern, const char *text, size_t len)
{
        int64_t number = intern_put(intern, text, len);

        if (number < 0)
                (void)roast_fail_nomem(vine->error);
        return number;
}

char *vine_text(const struct intern *intern, int64_t number)
{
        size_t len;
        const char *text;

        if (number < 0)
                return NULL;
        text = intern_get(intern, (size_t)number, &len);
        return text_copy(text, len);
}

int64_t vine_task_index(struct vine *vine, int64_t id)
{
        int64_t index = vine_put(vine, &vine->ids, (const char *)&id, sizeof(id));

        if (index < 0 || (size_t)index < vine->n_tasks)
                return index;
        if (ARRAY_ROOM(vine->tasks, vine->n_tasks, vine->cap_tasks) < 0) {
                intern_truncate(&vine->ids, (size_t)index);
                return roast_fail_nomem(vine->error);
        }
        vine->tasks[vine->n_tasks++] = (struct vine_task){
                .id = id,
                .root = index,
                .recovery = vine_graph_origin(vine->graph, id) != id,
                .category = VINE_NONE,
                .worker = VINE_NONE,
                .running_us = VINE_NONE,
                .ended_us = VINE_NONE,
                .dataset = VINE_NONE,
                .file = VINE_NONE,
                .tree = VINE_NONE,
                .uuid = VINE_NONE,
                .entry_start = VINE_NONE,
                .entry_stop = VINE_NONE,
        };
        return index;
}

int64_t vine_worker_index(struct vine *vine, const char *id)
{
        int64_t index = vine_put(vine, &vine->worker_ids, id, strlen(id));

        if (index < 0 || (size_t)index < vine->n_workers)
                return index;
        if (ARRAY_ROOM(vine->workers, vine->n_workers, vine->cap_workers) < 0) {
                intern_truncate(&vine->worker_ids, (size_t)index);
                return roast_fail_nomem(vine->error);
        }
        vine->workers[vine->n_workers++] = (struct vine_worker){ .connected_us = VINE_NONE,
                                                                 .address = VINE_NONE,
                                                                 .cores = VINE_NONE,
                                                                 .memory_bytes = VINE_NONE };
        return index;
}

int vine_skip(struct vine *vine)
{
        vine->skipped++;
        return 0;
}

int vine_resources(const char *text, void (*note)(const struct json_text *, double, void *),
                   void *context)
{
        struct json_reader in;
        struct json_text key, unit;
        struct json_number number;
        int r;

        if (json_reader_init(&in, text, strlen(text)) < 0)
                return ROAST_E_NOMEM;
        json_read_object(&in);
        while (json_read_key(&in, &key)) {
                char name[32];
                struct json_text kept = { name, key.len < sizeof(name) ? key.len : 0 };

                memcpy(name, key.data, kept.len);
                json_read_array(&in);
                if (json_read_element(&in) && json_read_number(&in, &number))
                        note(&kept, number.real, context);
                while (json_read_element(&in))
                        json_read_string(&in, &unit);
        }
        r = json_reader_end(&in, NULL);
        json_reader_deinit(&in);
        return r == ROAST_E_NOMEM ? r : r >= 0;
}
