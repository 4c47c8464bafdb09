/* SPDX-License-Identifier: Apache-2.0 */
/*
 * derive.h - facts that several tables need, computed once.
 *
 * osc_derive() computes the requested facts that do not exist yet, in parallel over tracks
 * where possible, and stores them in the trace:
 *
 *   ORDER   the ranges of each track in the order in which they nest; included in FOREST,
 *           LINKS and UNIONS (derive/order.h)
 *   FOREST  parent, depth, self_ns of every synchronous range
 *   STEPS   osc_trace.steps, and step of every event: host events by their start,
 *           device work by its launch
 *   LINKS   link of device work, host calls and backward operators
 *   UNIONS  disjoint intervals per class of event (derive/unions.h)
 *   MEMORY  the operator to which each allocation and release belongs (link as well)
 *   ALLOCATIONS  memory records by device, each allocation paired with its release
 *   CALLERS  the chains of operators around these; includes ALLOCATIONS
 *   LOADS   how much of each device its kernels used (derive/loads.h); includes LINKS
 *   SELECTION  what filters look up (derive/select.h); includes LINKS and STEPS
 *   ARROWS  the arrow of each record, and which of its ends there are (derive/arrows.h)
 *   VIEWS   everything that views need (derive/part/view.h): SELECTION, FOREST, ARROWS
 *
 * Columns lie in the chunks, everything else in derive/facts.h. Inconsistencies are counted in
 * osc_trace.findings. In a selected trace, something that may be missing because it was left
 * out, such as the launch of a kernel, is not counted.
 *
 * Threading: thread-safe, under the lock of the trace (model/trace.h): if several threads ask
 * for a fact, one computes it and the others wait. Facts are charged to the account of the
 * trace. A caller whose own account is cancelled gets OSC_ECANCELED, between two facts.
 */
#pragma once

#include "base/status.h"
#include "model/trace.h"

enum osc_fact {
    OSC_FACT_FOREST = 1,
    OSC_FACT_STEPS = 2,
    OSC_FACT_LINKS = 4,
    OSC_FACT_UNIONS = 8,
    OSC_FACT_MEMORY = 16,
    OSC_FACT_ALLOCATIONS = 32,
    OSC_FACT_CALLERS = 64,
    OSC_FACT_LOADS = 128,
    OSC_FACT_ORDER = 256,
    OSC_FACT_SELECTION = 512,
    OSC_FACT_VIEWS = 1024,
    OSC_FACT_ARROWS = 2048,
};

/*
 * Compute FACTS (bits of enum osc_fact) and what they depend on, on at most N_THREADS threads
 * (0: all processors). On failure T keeps the facts that it had, and perhaps has some of
 * FACTS.
 */
OSC_MUST_USE osc_status osc_derive(struct osc_trace *t, uint32_t facts, unsigned n_threads,
                                   struct osc_err *err);

/* Remove the findings that only derive/ counts from FOUND. */
void osc_derive_forget_findings(struct osc_findings *found);

/* Discard all facts and the findings made with them. For the single owner of T. */
void osc_derive_forget(struct osc_trace *t);
