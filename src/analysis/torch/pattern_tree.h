/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pattern_tree.h - the ranges of a thread as a tree with the relations that patterns follow.
 *
 * Nodes stand in the order of nesting: a node is followed by its first child, if it has one,
 * else by its next sibling. Every relation is found in time linear in the number of nodes,
 * however a hostile file nests them.
 *
 * Threading: not locked; read-only once made.
 */
#pragma once

#include "analysis/torch/pattern_names.h"
#include "base/status.h"
#include "model/trace.h"

enum osc_pattern_flag {
    OSC_PATTERN_FILLS = 1,      /* it or one of its last children, each in the one before,
                                 * fills a tensor */
    OSC_PATTERN_AFTER_FILL = 2, /* the last leaf of the sibling before it fills a tensor */
    OSC_PATTERN_HAS_ZERO = 4,   /* something in it sets a tensor to 0 that was there */
    OSC_PATTERN_VISITED = 8,    /* an index of a loop that was counted */
};

/* A relation is the number of a node + 1, or 0: none. */
struct osc_pattern_node {
    uint32_t row;    /* osc_row */
    uint32_t bits;   /* of its name: enum osc_pattern_name */
    uint32_t parent; /* the range around it */
    uint32_t last;   /* its last child */
    uint32_t next;   /* the sibling after it; of a node without a parent the next such node */
    uint32_t module; /* the innermost module Conv2d that it is or lies in, else the outermost
                      * range around it, or itself */
    uint32_t caller; /* the innermost function of Python around it that is not torch's */
    uint32_t flags;  /* enum osc_pattern_flag */
};

/* Zeroed, it is empty. */
struct osc_pattern_tree {
    const struct osc_trace *t;
    uint32_t *names;                /* owned; enum osc_pattern_name by osc_sid */
    struct osc_pattern_node *nodes; /* owned; of one track */
    size_t cap;
    uint32_t n;
    uint32_t n_names;
};

/* Make room for the names of T, which has FOREST. */
OSC_MUST_USE osc_status osc_pattern_tree_init(struct osc_pattern_tree *p,
                                              const struct osc_trace *t);

/* Replace the nodes by those of TRACK. */
OSC_MUST_USE osc_status osc_pattern_tree_make(struct osc_pattern_tree *p, uint32_t track);

void osc_pattern_tree_fini(struct osc_pattern_tree *p);
