/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_tree.h - values by stack, for files of folded stacks.
 *
 *   main;forward;aten::mm 1234
 *   '------ stack ------' '--' value
 *
 * Stacks are nodes of a tree, so that each frame is held once however deep it lies.
 *
 *   - In a frame, blanks, semicolons and control characters become "_", as torch's
 *     export_stacks() has it, and what is not UTF-8 U+FFFD. Frames that are equal
 *     then are one. A frame is cut at 4,096 bytes, a stack at 512 frames: whatever
 *     lies deeper counts for the deepest that is there. So no input makes much more
 *     text than it has itself.
 *   - Lines come in order of their frames' bytes, outermost first; those whose value
 *     is not positive do not come.
 *
 * Threading: not locked.
 */
#pragma once

#include "base/arena.h"
#include "base/idmap.h"
#include "base/intern.h"
#include "base/strbuf.h"
#include "export/export.h"

#define OSC_STACK_TREE_DEPTH 512u

/* A stack: its innermost frame and the stack that called it. */
struct osc_stack_node {
    uint32_t caller; /* node, or 0 */
    osc_sid frame;   /* of osc_stack_tree.frames */
    uint32_t depth;  /* frames, this one included */
    int64_t value;   /* of this very stack; stays at its bounds */
};

/* Zeroed but for osc_stack_tree_init(), it is empty; node N stands at N - 1. */
struct osc_stack_tree {
    struct osc_stack_node *nodes; /* owned */
    size_t n_nodes, cap_nodes;
    struct osc_intern frames; /* of the arena */
    struct osc_arena arena;   /* owned */
    struct osc_idmap known;   /* caller and frame -> node */
    struct osc_strbuf scratch;
};

void osc_stack_tree_init(struct osc_stack_tree *tree);
void osc_stack_tree_fini(struct osc_stack_tree *tree);

/* Into *NODE the stack in which CALLER (0: nobody) has called FRAME. */
OSC_MUST_USE osc_status osc_stack_tree_push(struct osc_stack_tree *tree, uint32_t caller,
                                            struct osc_str frame, uint32_t *node);

/* Count VALUE for NODE; 0 is left out. */
void osc_stack_tree_add(struct osc_stack_tree *tree, uint32_t node, int64_t value);

/* Append the frames of NODE, outermost first. */
void osc_stack_tree_text(const struct osc_stack_tree *tree, uint32_t node,
                         struct osc_strbuf *out);

/* Write all lines to SINK; *N_LINES says how many. */
OSC_MUST_USE osc_status osc_stack_tree_write(const struct osc_stack_tree *tree,
                                             const struct osc_export_sink *sink,
                                             uint64_t *n_lines);
