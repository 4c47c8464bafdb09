/* SPDX-License-Identifier: Apache-2.0 */
/*
 * averages_stacks.h - the call stack of every node, as torch shows it.
 *
 * An operator has its own `Call stack`. A backward function and everything below it have the
 * stack of the forward operator, found by Sequence number and thread; the file has a logical
 * number for that thread, and the fwdbwd flows show which thread that is.
 *
 *   - A stack is the number of a distinct text: a JSON list of its first N frames,
 *     innermost first. Each distinct stack of the file is converted once.
 *
 * Threading: not locked; one thread builds, then any number of readers.
 */
#pragma once

#include <stdint.h>

#include "analysis/torch/averages_tree.h"
#include "base/arena.h"
#include "base/idmap.h"
#include "base/intern.h"
#include "base/strbuf.h"

/* Zeroed, it is empty. */
struct osc_avg_stacks {
    uint32_t *of_node; /* pages, owned: id in texts */
    size_t of_node_size;
    struct osc_intern texts; /* owned; JSON lists; the empty one is id 0 */
    struct osc_arena arena;  /* owned; their bytes */
    struct osc_idmap by_sid; /* `Call stack` of the file -> id + 1 */
    struct osc_strbuf scratch;
    uint32_t depth; /* N */
};

/* Find the stacks of all nodes of TREE, cut to DEPTH frames. Call osc_avg_stacks_fini() even
 * after a failure. */
OSC_MUST_USE osc_status osc_avg_stacks_build(struct osc_avg_stacks *s,
                                             const struct osc_avg_tree *tree, uint32_t depth);
void osc_avg_stacks_fini(struct osc_avg_stacks *s);

/* The text of stack ID: "[]" or a list of strings. */
struct osc_str osc_avg_stack_text(const struct osc_avg_stacks *s, uint32_t id);
