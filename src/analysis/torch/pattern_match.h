/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pattern_match.h - find the patterns of torch in a trace, and who caused them.
 *
 * Threading: not locked.
 */
#pragma once

#include "analysis/torch/pattern_names.h"
#include "base/arena.h"
#include "base/idmap.h"
#include "base/intern.h"
#include "base/status.h"
#include "model/trace.h"

struct osc_pattern_match {
    enum osc_pattern pattern;
    osc_row row;      /* the event that matches */
    osc_sid source;   /* file:line in osc_patterns.sources; or none */
    osc_sid function; /* name in the trace of the function of Python that caused it; or none */
};

/* Zeroed, it is empty. */
struct osc_patterns {
    struct osc_pattern_match *v; /* owned; by pattern, start and place in the file */
    size_t n, cap;
    struct osc_intern sources;
    struct osc_arena arena;       /* of these */
    struct osc_idmap of_stack;    /* stack and name of an event -> id in sources + 1 */
    struct osc_idmap of_products; /* row of a product of matrices -> enum osc_product */
    bool has_python, has_types;   /* the trace has calls of Python; dtypes of inputs */
};

/* Find the patterns in T, which has FOREST and LINKS. */
OSC_MUST_USE osc_status osc_patterns_find(const struct osc_trace *t, struct osc_patterns *p);
void osc_patterns_fini(struct osc_patterns *p);
