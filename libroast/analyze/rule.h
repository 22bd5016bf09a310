#pragma once
/*
 * A rule: one cause of lost time
 *
 * It looks at the study of a run and fills in a verdict: either it fires, with a
 * title, evidence and what it could save, or it says why not. The table of all
 * rules is in explain.c; each function stands in the file of its subject.
 */

#include "analyze/study.h"
#include "roast-explain.h"

/* Fewer looks at sleeping threads than this tell nothing about what they wait for. */
#define RULE_LOOKS_LEAST 10

struct verdict {
        bool fires;
        struct roast_finding finding;
        char *why_not;
        bool nomem;
};

struct rule {
        const char *name;
        const char *asks;
        double limit;          /* the share, factor or number from which it fires */
        const char *threshold; /* names the limit as %g */
        bool percent;          /* the limit is a share, and told in percent */
        const char *advice;
        int (*check)(const struct study *study, double limit, struct verdict *verdict);
};

#define RULE(name) int name(const struct study *study, double limit, struct verdict *verdict)
RULE(rule_io_bound);
RULE(rule_unused_branches);
RULE(rule_rereads);
RULE(rule_cpu_oversubscribed);
RULE(rule_cpu_throttled);
RULE(rule_gil);
RULE(rule_ramp);
RULE(rule_starvation);
RULE(rule_tail);
RULE(rule_after_chunks);
RULE(rule_chunks_small);
RULE(rule_chunks_large);
RULE(rule_chunks_memory);
RULE(rule_outliers);
RULE(rule_retries);
RULE(rule_slow_file);
RULE(rule_slow_site);
RULE(rule_slow_host);
RULE(rule_memory_limit);
RULE(rule_spilling);
RULE(rule_memory_grows);
RULE(rule_section_waits);
RULE(rule_section_dominates);
RULE(rule_section_grows);
RULE(rule_serialization);
RULE(rule_merging);
RULE(rule_scheduler_lag);
#undef RULE

#define PRINTF(n) __attribute__((format(printf, n, (n) + 1)))

/* Each returns 0, so that a rule can end in `return verdict_why_not(...)`. */
int verdict_why_not(struct verdict *verdict, const char *format, ...) PRINTF(2);
/* It fires; `thread_s` is time of the workers' threads that could be saved, NaN if not known. */
int verdict_fire(struct verdict *verdict, const struct study *study, double thread_s,
                 const char *format, ...) PRINTF(4);
int verdict_evidence(struct verdict *verdict, const char *format, ...) PRINTF(2);
/* `number` is that of a string of the study */
int verdict_subject(struct verdict *verdict, const struct study *study, const char *kind,
                    uint32_t number, const char *format, ...) PRINTF(5);
int verdict_name(struct verdict *verdict, const char *kind, const char *name, size_t len,
                 const char *format, ...) PRINTF(5);
/* The name of a chunk: its file and entries */
int verdict_chunk(struct verdict *verdict, const struct study *study,
                  const struct study_chunk *chunk, const char *format, ...) PRINTF(4);
#undef PRINTF

/* Seconds, bytes and counts for people, in one of a few buffers that take turns */
const char *say_s(double seconds);
const char *say_bytes(double bytes);
const char *say_count(double count);

/* The largest few of many, by a figure */
#define TOP_MAX 5

struct top {
        struct {
                size_t index;
                double value;
        } items[TOP_MAX]; /* the largest first */
        size_t n;
};

void top_add(struct top *top, size_t index, double value);
