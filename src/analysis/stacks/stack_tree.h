/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_tree.h - values by stack, for files of folded stacks and for flame graphs.
 *
 *   main;forward;aten::mm 1234
 *   '------ stack ------' '--' value
 *
 * Stacks are nodes of a tree, so that each frame is stored once, however deep it is.
 *
 *   - In a frame, blanks unless they are kept, semicolons and control characters become "_", as
 *     in torch's export_stacks(), and invalid UTF-8 becomes U+FFFD. Frames that are equal
 *     afterwards are one. A frame is cut at 4,096 bytes, a stack at 512 frames; deeper values
 *     count for the deepest kept frame. So the output is never much larger than the input.
 *   - Lines are sorted by the bytes of their frames, outermost first. Values that are not
 *     positive are left out.
 *
 * Threading: not locked.
 */
#pragma once

#include "base/arena.h"
#include "base/idmap.h"
#include "base/intern.h"
#include "base/strbuf.h"

#define OSC_STACK_TREE_DEPTH 512u

/* A stack: its innermost frame and the stack that called it. */
struct osc_stack_node {
    uint32_t caller; /* node, or 0 */
    osc_sid frame;   /* in osc_stack_tree.frames */
    uint32_t depth;  /* number of frames, including this one */
    int64_t value;   /* of exactly this stack; saturates */
};

/* Initialise with osc_stack_tree_init(). Node N is at N - 1. */
struct osc_stack_tree {
    struct osc_stack_node *nodes; /* owned */
    size_t n_nodes, cap_nodes;
    struct osc_intern frames; /* stored in the arena */
    struct osc_arena arena;   /* owned */
    struct osc_idmap known;   /* caller and frame -> node */
    struct osc_strbuf scratch;
    bool keeps_blanks; /* for readers that separate stack and value otherwise */
};

void osc_stack_tree_init(struct osc_stack_tree *tree);
void osc_stack_tree_fini(struct osc_stack_tree *tree);

/* Set *NODE to the stack in which CALLER (0: none) called FRAME. */
OSC_MUST_USE osc_status osc_stack_tree_push(struct osc_stack_tree *tree, uint32_t caller,
                                            struct osc_str frame, uint32_t *node);

/* Add VALUE to NODE. */
void osc_stack_tree_add(struct osc_stack_tree *tree, uint32_t node, int64_t value);

/* Append the frames of NODE, outermost first. */
void osc_stack_tree_text(const struct osc_stack_tree *tree, uint32_t node,
                         struct osc_strbuf *out);

/* Pass all lines to WRITE, many at a time; *N_LINES is their number. */
OSC_MUST_USE osc_status osc_stack_tree_write(const struct osc_stack_tree *tree,
                                             osc_status (*write)(void *ctx, const char *s,
                                                                 size_t len),
                                             void *ctx, uint64_t *n_lines);
