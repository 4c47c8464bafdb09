/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packing.h - which queues are drawn as one track, and which tracks have Python frames.
 *
 * Graphs make hundreds of queues that have little to do. A queue is sparse if its ranges
 * take less than a twelfth of the time that those of all queues of its process take. The sparse
 * queues of a process are packed if there are more than OSC_PACKING_QUEUES of them.
 *
 * Threading: made by one thread; read-only afterwards.
 */
#pragma once

#include "base/status.h"
#include "model/trace.h"

#define OSC_PACKING_QUEUES 12u

/* Zeroed, it is empty. */
struct osc_packing {
    uint32_t *first; /* owned; by track: the first queue of those it is packed with; 0: none */
    uint32_t *n_frames; /* owned; by track: its Python frames */
    uint32_t n_packed;  /* queues that are packed */
};

/* Find them in T, which has FOREST. After a failure P is empty. */
OSC_MUST_USE osc_status osc_packing_find(const struct osc_trace *t, struct osc_packing *p);
void osc_packing_fini(struct osc_packing *p);
