#pragma once
/* What is known of a TaskVine run while its `transactions` are read */

#include "import/vine.h"
#include "util/json-read.h"

#define VINE_NONE (-1) /* not known, not there */

struct vine_task {
        int64_t id;
        int64_t root;     /* index of the first task that did the same work */
        int64_t attempts; /* on the root: at this work so far */
        int64_t category; /* texts are numbers in `names`; VINE_NONE: not known */
        int64_t worker;
        int64_t running_us; /* VINE_NONE: not on a worker */
        int64_t ended_us;   /* VINE_NONE: still running */
        bool recovery;
        int64_t dataset; /* the chunk, if the application told it */
        int64_t file;
        int64_t tree;
        int64_t uuid;
        int64_t entry_start;
        int64_t entry_stop;
};

struct vine_worker {
        int64_t connected_us; /* VINE_NONE: not announced yet */
        int64_t address;
        int64_t cores; /* VINE_NONE: not told yet */
        int64_t memory_bytes;
};

struct vine {
        struct roast_run *run;
        const struct vine_graph *graph;
        struct intern names; /* categories, workers, files */
        struct intern ids;   /* tasks: index by id */
        struct vine_task *tasks;
        size_t n_tasks, cap_tasks;
        struct intern worker_ids;
        struct vine_worker *workers;
        size_t n_workers, cap_workers;
        struct intern items; /* what the application calls the work */
        int64_t *item_roots; /* task index of each */
        size_t cap_items;
        int64_t start_us, end_us, last_us, elapsed_us;
        int64_t bytes_sent, bytes_received;
        int64_t skipped;
        struct roast_error *error;
};

/* The number of a text, or ROAST_E_NOMEM with the message */
int64_t vine_put(struct vine *vine, struct intern *intern, const char *text, size_t len);
/* A copy of a text that the caller frees; NULL without a text, or without memory */
char *vine_text(const struct intern *intern, int64_t number);
/* The places of a task and of a worker, made when they are new; or ROAST_E_NOMEM */
int64_t vine_task_index(struct vine *vine, int64_t id);
int64_t vine_worker_index(struct vine *vine, const char *id);
/* Counts a line that says nothing we understand. */
int vine_skip(struct vine *vine);
/*
 * {"memory":[4000,"MB"],...}: calls for each name with its number. 1, 0 if it is something else, or
 * ROAST_E_NOMEM.
 */
int vine_resources(const char *text, void (*note)(const struct json_text *, double, void *),
                   void *context);

/* Lines WORKER ... and APPLICATION ..., from behind that word on */
int vine_read_worker(struct vine *vine, int64_t us, char *at);
int vine_read_application(struct vine *vine, char *at);
