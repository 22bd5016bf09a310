#pragma once
/*
 * Why a run took as long as it did
 *
 * Every rule looks for one cause of lost time. What it finds carries its
 * evidence, the time it could save, the threshold it passed and what to try.
 * Rules that found nothing say why.
 *
 * Time that could be saved is wall time of the run: thread-seconds divided by
 * the threads that were there. Causes overlap: the savings of two findings need
 * not add up.
 */

#include <stdbool.h>
#include <stddef.h>

#include "roast-error.h"
#include "roast-run.h"

/* A chunk, worker, host, file, site, dataset, section, branch or error that a finding concerns */
struct roast_subject {
        const char *kind;
        char *name;
        char *value;
};

struct roast_finding {
        const char *rule;
        char *title;
        double saves_s; /* NaN: it costs something else than time, or how much is not known */
        double share;   /* of the run's time */
        bool estimated; /* saves_s rests on an assumption, which the evidence names */
        char *threshold;
        const char *advice; /* what to try */
        char **evidence;
        size_t n_evidence;
        struct roast_subject *subjects;
        size_t n_subjects;
};

/* A rule that found nothing */
struct roast_unfired {
        const char *rule;
        char *why_not;
};

struct roast_explanation {
        double elapsed_s;               /* NaN: not known */
        double threads;                 /* of the workers, on average over time */
        struct roast_finding *findings; /* by the time they could save, the most first */
        size_t n_findings;
        struct roast_unfired *unfired; /* in the order of the rules */
        size_t n_unfired;
};

int roast_explain(struct roast_explanation *explanation, struct roast_run *run,
                  struct roast_error *error);
void roast_explanation_deinit(struct roast_explanation *explanation);

/* {"elapsed_s", "threads", "findings": [...], "checked": [...]}; the caller frees */
int roast_explanation_to_json(char **ret, const struct roast_explanation *explanation,
                              struct roast_error *error);

struct roast_explain_view {
        bool markdown;
        bool color;
        size_t width; /* 0: 80 columns */
        bool all;     /* also the rules that found nothing */
};

int roast_explanation_to_text(char **ret, const struct roast_explanation *explanation,
                              const struct roast_explain_view *view, struct roast_error *error);

/* The rules, for documentation */
struct roast_rule {
        const char *name;
        const char *asks;      /* what it looks for */
        const char *threshold; /* when it speaks up */
        const char *advice;
};

/* The i-th rule; false: there are not so many. The threshold is valid until the next call. */
bool roast_explain_rule(size_t i, struct roast_rule *rule);
