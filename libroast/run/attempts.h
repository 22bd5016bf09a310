#pragma once
/*
 * Every attempt at a chunk, one each
 *
 * What is known of an attempt is in up to three rows: the record that the
 * decorated processor made, the task as its worker saw it, and the scheduler's
 * word that it was lost with its worker. One walk puts them together: first the
 * records, in their order, then the tasks that have none, because the processor
 * is not decorated, the file did not open or was skipped, or the worker died.
 * A record belongs to the task whose execution made it. One that does not know its execution
 * belongs to the task of the same worker with the same dataset, file, tree and entries during which
 * it began; where that is true of several, they are joined one each, and marked.
 *
 *   record  task       lost    the attempt is
 *   any     -          -       what the record says
 *   done    done       -       finished
 *   done    failed     -       failed, with the task's error: its result did not get out
 *   failed  skipped    -       skipped, with the record's error
 *   done    done or -  lost    lost: it has to be done again elsewhere
 *   -       done       lost    lost
 *   -       any        -       what the task says
 *   -       -          lost    lost while it ran
 *
 * A task in which coffea called process() again has several records; the last
 * one of them is the one that shares the task's end.
 */

#include "record/chunk.h"
#include "run/run.h"

struct run_attempt {
        /*
         * By enum chunk_field: the record, with the outcome and the number of the attempt settled.
         * Without a record what the task tells; wall_ns is then the time of the whole task.
         */
        const struct run_value *chunk;
        int64_t chunk_id; /* row of table `chunk`; 0: there is no record */
        int64_t task_id;  /* row of table `task`; 0: there is none */
        int64_t outcome;  /* enum chunk_outcome; CHUNK_GRAPH comes too */
        bool ambiguous;   /* which task the record belongs to is assumed */
};

/* Returns 0, or a negative error that ends the walk. */
typedef int (*run_attempt_visitor)(const struct run_attempt *attempt, void *context,
                                   struct roast_error *error);

int roast_run_attempts(struct roast_run *run, run_attempt_visitor visit, void *context,
                       struct roast_error *error);

/*
 * The same attempts as tables of records, with their sections and branches: `batch` rows at a time,
 * the last with fewer, or none. The table is the visitor's until it returns.
 */
typedef int (*run_records_visitor)(const struct chunk_table *table, void *context,
                                   struct roast_error *error);

int run_records(struct roast_run *run, size_t batch, run_records_visitor visit, void *context,
                struct roast_error *error);
