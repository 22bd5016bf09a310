#pragma once
/*
 * Rows of results: each benchmark prints one JSON object a line
 *
 * tools/bench.py collects them; it alone judges whether a bound is kept.
 * bench/result.py is the same for Python.
 */

#include <stddef.h>

/* A value, and how far another measurement of it may lie away */
struct figure {
        double value;
        double spread;
};

/* Texts go into JSON as they are: no quotes, no backslashes. */
struct result {
        const char *name;
        struct figure figure;
        const char *unit;
        double at_most;  /* 0: no such bound */
        double at_least; /* 0: no such bound */
        const char *of;  /* what the figure is a ratio to, or NULL */
};

/* The least of n values, which it sorts; spread: to the lower quartile. */
struct figure figure_best(double *values, size_t n);

/* The middle of n values, which it sorts; spread: half of what lies between the quartiles. */
struct figure figure_median(double *values, size_t n);

struct figure figure_ratio(struct figure value, struct figure reference);

void result_print(const struct result *result);

/* Says that something could not be measured here. */
void result_absent(const char *name, const char *why);
