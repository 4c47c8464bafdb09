/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_operators.h - which operator was running when memory was allocated or freed.
 *
 * Each allocation and release belongs to the deepest node of its thread's operator tree that
 * contains its time, start <= time < end. If that node is no operator, or there is none, link
 * is none.
 *
 * Threading: one writer; read-only afterwards.
 */
#pragma once

#include "base/status.h"
#include "derive/classify.h"
#include "derive/optree.h"
#include "derive/order.h"
#include "model/trace.h"

struct osc_memory_record {
    uint32_t row;  /* of an allocation or a release */
    uint32_t node; /* the deepest node that contains it, never a merged one; or 0 */
};

/* Grouped by thread, in order of time. Zeroed, it is empty. */
struct osc_memory {
    struct osc_memory_record *records; /* owned */
    uint32_t n_records;
};

/* Fill M, and set osc_chunk.link of allocations and releases to their operators. */
OSC_MUST_USE osc_status osc_memory_make(const struct osc_trace *t, const struct osc_classes *c,
                                        const struct osc_order *order,
                                        const struct osc_optree *tree, unsigned n_threads,
                                        struct osc_memory *m);
void osc_memory_fini(struct osc_memory *m);
