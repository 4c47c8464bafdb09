/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flame_graph.h - what of the stacks of folding.h a flame graph shows.
 *
 * Threading: not locked.
 */
#pragma once

#include "analysis/stacks/stack_tree.h"
#include "base/regex.h"
#include "base/status.h"
#include "prose/phrase.h"

/* What is asked for; all of it is borrowed. */
struct osc_flame_wish {
    const char *root; /* only what is below these frames, with ";" between; NULL: all */
    const char *name; /* the stacks of this frame alone; NULL: of all */
    bool has_callers; /* of NAME: who calls it, the other way round; else what it calls */
    struct osc_regex *regex; /* which frames match; NULL: not asked */
    int64_t pixels;          /* of the widest frame: what is less than one wide is left out */
};

/* For each stack of the tree, by its number; 0 is what is around all. */
struct osc_flame_frame {
    int64_t total;
    int64_t small_total; /* of frames that it calls and that are left out */
    uint32_t small_count;
    uint32_t shown; /* its number among those that are shown + 1; 0: it is not */
    bool is_in, matches, is_inside;
};

struct osc_flame {
    const struct osc_stack_tree *tree; /* that of osc_flame_make(), or TURNED */
    struct osc_stack_tree turned;      /* owned */
    struct osc_flame_frame *frames;    /* owned */
    int64_t least;                     /* what is less than a pixel */
    int64_t matched;                   /* value of all stacks that have a frame that matches */
};

/*
 * Fill F with what WISH asks of TREE, which is borrowed. OSC_EFORMAT: no stack begins with the
 * root; OSC_ECANCELED. F has to be finished in any case.
 */
OSC_MUST_USE osc_status osc_flame_make(struct osc_flame *f, const struct osc_stack_tree *tree,
                                       const struct osc_flame_wish *wish, struct osc_err *err);
void osc_flame_fini(struct osc_flame *f);

/* The value of NODE of F itself: lines of a file have no stacks that took nothing. */
int64_t osc_flame_self(const struct osc_flame *f, uint32_t node);

/* Append a sentence to OUT: which frame has most of METRIC (a word of --metric; NULL: host
 * time) of its own, wherever it is. */
OSC_MUST_USE osc_status osc_flame_say(const struct osc_flame *f, const char *metric,
                                      struct osc_strbuf *out);

/* The sentence. */
extern const struct osc_prose osc_flame_prose;
