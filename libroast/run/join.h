#pragma once
/* Which records, tasks and words of a loss are one attempt: what attempts.h says, settled */

#include "run/run.h"

/* A record, or a task that is about a chunk */
struct join_node {
        uint64_t chunk;    /* hash of which chunk; 0: not known */
        int64_t execution; /* of which task: see task.def; 0: not known */
        int64_t start_utc_ns;
        int64_t stop_utc_ns;  /* of a task */
        int64_t id;           /* row of its table */
        int64_t task;         /* of a record: row of its task, or 0 */
        int64_t output_bytes; /* negative: not known */
        uint32_t worker;      /* number of its name; 0: not known */
        uint32_t number;      /* of the attempt at its chunk, from 1; 0: not counted */
        int32_t outcome;      /* enum chunk_outcome, of the attempt */
        bool is_task : 1;
        bool by_key : 1;    /* its task is known by its key, else by its chunk */
        bool merged : 1;    /* it is part of another attempt */
        bool ambiguous : 1; /* of a record: it could belong to another task, too */
        bool lost : 1;      /* it had finished, but its result was lost */
};

struct join {
        struct join_node *nodes; /* of all records, in their order, then of tasks */
        size_t n;                /* 0: there is nothing to join, each record is an attempt */
        size_t cap;
        size_t n_records;
        size_t n_alone; /* tasks that are attempts of their own */
        bool any_plain; /* records that know no execution */
        bool any_keyed; /* tasks that know theirs */
        bool by_time;   /* records were joined by their times */
};

/* join-time.c: of one chunk and one worker, by join_time_of(); returns whether any was joined. */
bool join_times(struct join_node **nodes, size_t n);
int64_t join_time_of(const struct join_node *node);
/* A record, by its place, and its task; until join_settle() the nodes stay in their order. */
void join_pair(struct join_node **nodes, size_t at, struct join_node *task);
/* The last record of a task shares its end. */
void join_settle(struct join_node **nodes, size_t n);

/* Within a view. The rows of tasks are verified, those of chunks not: the walk that follows does
 * that. */
int join_run(struct join *join, struct roast_run *run, struct roast_error *error);
void join_deinit(struct join *join);
