/* SPDX-License-Identifier: Apache-2.0 */
/*
 * holders.h - what holds the memory of a device at one moment, summed.
 *
 * A moment is a memory record: what was allocated at it or before, and was released after it,
 * is alive.
 *
 * Threading: not locked; one thread.
 */
#pragma once

#include "analysis/memory/memory_view.h"

/* The live allocations with one operator, module and size, as far as they are asked for. */
struct osc_holder {
    uint32_t label;      /* osc_sid in osc_holders.labels, or 0 */
    osc_sid module;      /* of the trace; 0: none, or not asked for */
    int64_t block_bytes; /* size of each, or 0 */
    uint32_t first;      /* record of the first allocation */
    int64_t max_bytes;   /* size of the largest one */
    osc_wide bytes;
    uint64_t count;
};

/* What osc_holders_init() makes, which is empty; the caller then sets at least one by_…. */
struct osc_holders {
    struct osc_memory_view *v;      /* borrowed */
    bool by_op, by_module, by_size; /* allocations that have these in common are summed */
    struct osc_arena arena;
    struct osc_intern labels, keys; /* operators; entry i of keys is holder i - 1 */
    struct osc_holder *all;         /* owned; most bytes first; of equals, the first seen */
    size_t n, cap;
    osc_wide bytes; /* of all, and how many allocations they are */
    uint64_t count;
};

void osc_holders_init(struct osc_holders *h, struct osc_memory_view *v);
void osc_holders_fini(struct osc_holders *h);

/* Find what holds the memory of D after record AT, whether it is selected or not. */
OSC_MUST_USE osc_status osc_holders_find(struct osc_holders *h,
                                         const struct osc_memory_device *d, uint32_t at);

/* The name of the operator of HOLDER. */
struct osc_str osc_holder_operator(const struct osc_holders *h,
                                   const struct osc_holder *holder);
