/* Workers in TaskVine's `transactions`: their lives, and what was sent to and from them */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "import/vine-state.h"

static void vine_note_capacity(const struct json_text *name, double value, void *context)
{
        struct vine_worker *worker = context;

        if (!(value >= 0 && value < 1e12))
                return;
        if (json_text_is(name, "cores"))
                worker->cores = llround(value);
        else if (json_text_is(name, "memory"))
                worker->memory_bytes = llround(value * 1048576);
}

static int vine_announce(struct vine *vine, int64_t index, int64_t us, enum roast_worker_event kind)
{
        const struct vine_worker *worker = &vine->workers[index];
        char *name = vine_text(&vine->worker_ids, index);
        char *host = vine_text(&vine->names, worker->address);
        int r;

        if (!name || (worker->address >= 0 && !host)) {
                r = roast_fail_nomem(vine->error);
        } else {
                if (host && strrchr(host, ':'))
                        *strrchr(host, ':') = '\0';
                r = roast_run_add_worker_event(
                        vine->run, us * 1000, kind,
                        &(struct roast_worker){ .name = name,
                                                .host = host,
                                                .pid = -1,
                                                .threads = worker->cores,
                                                .memory_limit_bytes = worker->memory_bytes },
                        vine->error);
        }
        free(name);
        free(host);
        return r;
}

/* A worker has come when it has told what it has; later it may tell something else. */
static int vine_read_worker_resources(struct vine *vine, int64_t index, int64_t us,
                                      const char *text)
{
        struct vine_worker *worker = &vine->workers[index];
        struct vine_worker before = *worker;
        int r = vine_resources(text, vine_note_capacity, worker);

        if (r <= 0) {
                *worker = before;
                return r < 0 ? roast_fail_nomem(vine->error) : vine_skip(vine);
        }
        if (before.cores >= 0)
                us = worker->cores == before.cores && worker->memory_bytes == before.memory_bytes
                             ? VINE_NONE
                             : us;
        else if (worker->connected_us >= 0)
                us = worker->connected_us;
        return us < 0 ? 0 : vine_announce(vine, index, us, ROAST_WORKER_CAME);
}

int vine_read_worker(struct vine *vine, int64_t us, char *at)
{
        const char *id = vine_word(&at), *what = vine_word(&at);
        int64_t index, size;

        if (!*what)
                return vine_skip(vine);
        index = vine_worker_index(vine, id);
        if (index < 0)
                return (int)index;
        if (!strcmp(what, "CONNECTION")) {
                const char *address = vine_word(&at);
                int64_t number = vine_put(vine, &vine->names, address, strlen(address));

                if (number < 0)
                        return (int)number;
                vine->workers[index] = (struct vine_worker){ us, number, VINE_NONE, VINE_NONE };
                return 0;
        }
        if (!strcmp(what, "RESOURCES"))
                return vine_read_worker_resources(vine, index, us, at);
        if (!strcmp(what, "DISCONNECTION")) {
                int r = 0;

                if (vine->workers[index].cores < 0 && vine->workers[index].connected_us >= 0)
                        r = vine_announce(vine, index, vine->workers[index].connected_us,
                                          ROAST_WORKER_CAME);
                return r < 0 ? r : vine_announce(vine, index, us, ROAST_WORKER_WENT);
        }
        if (!strcmp(what, "TRANSFER")) {
                bool input = !strcmp(vine_word(&at), "INPUT");

                (void)vine_word(&at); /* the file */
                size = vine_number(vine_word(&at));
                if (size < 0 || size > INT64_MAX / 4 - vine->bytes_sent - vine->bytes_received)
                        return vine_skip(vine);
                *(input ? &vine->bytes_sent : &vine->bytes_received) += size;
        }
        return 0;
}
