/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stacks.h - Python stacks rebuilt from the ranges of Python frames.
 *
 * If operators have no `Call stack` of their own, the frames that contain an operator on its
 * thread are its stack. Stacks are nodes of a tree: a frame, and the stack that called it.
 * Equal stacks are one node.
 *
 * Threading: not locked; read-only once made.
 */
#pragma once

#include "base/idmap.h"
#include "base/strbuf.h"
#include "derive/classify.h"
#include "derive/order.h"
#include "model/trace.h"

/* Texts show at most this many innermost frames, since a hostile file may have endless
 * stacks. */
#define OSC_STACK_FRAMES_MAX 128u

struct osc_stack {
    uint32_t caller; /* stack, or 0 */
    osc_sid frame;   /* name of the innermost frame */
};

/* Zeroed, it is empty. */
struct osc_stacks {
    struct osc_stack *stacks; /* owned; stack N is at N - 1, after its caller */
    size_t n_stacks, cap_stacks;
    uint32_t *of_place; /* owned pages; by place in osc_order.rows: the stack around it */
    size_t of_place_bytes;
};

OSC_MUST_USE osc_status osc_stacks_make(const struct osc_trace *t, const struct osc_classes *c,
                                        const struct osc_order *order, struct osc_stacks *s);
void osc_stacks_fini(struct osc_stacks *s);

/* Append the frames of STACK, innermost first, separated by ";", as in torch. */
void osc_stacks_text(const struct osc_stacks *s, const struct osc_trace *t, uint32_t stack,
                     struct osc_strbuf *out);
