#pragma once
/* From a run to base facts: one file a source, each fills its part of the summary. */

#include "metrics/imported.h"
#include "metrics/report.h"
#include "metrics/task-times.h"
#include "roast-metrics.h"
#include "run/attempts.h"

/* The size of a worker, as its comings tell; 0: not known */
struct collect_worker {
        double threads;
        double memory_limit_bytes;
        int64_t host_text; /* which process it lives in; pid 0: not known, one of its own */
        int64_t pid;
        size_t process;         /* which worker stands for its process: an index */
        double process_threads; /* of that one: the most that its workers had at a time */
};

/* Who else looks at the attempts and then at the sections, while they are read once for all */
struct collect_watch {
        run_attempt_visitor attempt;
        /* values: chunk_id, name_text, then the fields; of chunks that count */
        int (*section)(const struct run_value *values, void *context, struct roast_error *error);
        void *context;
};

/* What several sources need to know about the run */
struct collect {
        struct roast_run *run;
        struct roast_summary *summary;
        const struct collect_watch *watch; /* NULL: nobody */
        int64_t start_utc_ns;              /* INT64_MIN: not known */
        int64_t end_utc_ns;                /* of an unfinished run: the last thing that is known */
        double interval_s;
        int r;                       /* ROAST_E_NOMEM: a walk over facts was broken off */
        char processor[256];         /* class of the processor; empty: not known */
        char chunk_prefix[256];      /* of tasks that are about chunks; empty: not known */
        bool names_chunks;           /* the back end tells of each task whether it is */
        char no_spans[200];          /* why there are no spans; empty: not said */
        char few_spans[200];         /* why they are incomplete; empty: they are not */
        char few_records[200];       /* why those of failed attempts may lack; empty: they do not */
        char shortfall[200];         /* why rows may be missing; empty: none are */
        char derived[200];           /* where the report comes from; empty: it is coffea's own */
        struct report_custom custom; /* the user's own figures */
        struct imported imported;
        bool given;   /* figures in the place of all that is measured */
        bool assumes; /* as documented: a process time that the report lacks is the elapsed time */
        struct task_times times;
        struct intern texts;            /* the text table: id - 1 */
        struct collect_worker *workers; /* by the id of the name, less 1; NULL: no memory yet */
};

int collect_facts(struct collect *collect, struct roast_error *error);
int collect_workers(struct collect *collect, struct roast_error *error);
/* a part of collect_workers() */
int collect_processes(struct collect *collect, struct roast_error *error);
int collect_series(struct collect *collect, struct roast_error *error);
/* behind those two: what they know is better */
int collect_samples(struct collect *collect, struct roast_error *error);
int collect_spans(struct collect *collect, struct roast_error *error);
int collect_tasks(struct collect *collect, struct roast_error *error);
int collect_chunks(struct collect *collect, struct roast_error *error);
/* behind collect_workers(), which finds where an unfinished run ends; before spans and ledger */
int collect_task_times(struct collect *collect, struct roast_error *error);
int collect_ledger(struct collect *collect, struct roast_error *error);

/* The summary of a run, in front of somebody who watches; NULL: nobody does. */
int collect_summary(struct roast_summary *summary, struct roast_run *run,
                    const struct collect_watch *watch, struct roast_error *error);

/* The string of a `_text` column; NULL when the column is null. */
const char *collect_text(const struct collect *collect, const struct run_value *value, size_t *len);
