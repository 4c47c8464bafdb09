/* SPDX-License-Identifier: Apache-2.0 */
/*
 * derive.h - facts that several tables need, computed once.
 *
 * osc_derive() makes the facts that are asked for and not there yet, in parallel
 * over tracks where it can, and stores them in the trace:
 *
 *   ORDER   the ranges of each track in the order in which they nest; with FOREST,
 *           LINKS and UNIONS as well (derive/order.h)
 *   FOREST  parent, depth, self_ns of every synchronous range
 *   STEPS   osc_trace.steps, and step of every event: host events by their start,
 *           device work by its launch
 *   LINKS   link of device work, host calls and backward operators
 *   UNIONS  disjoint intervals per class of event (derive/unions.h)
 *   MEMORY  which operator each allocation and release belongs to (link as well)
 *   ALLOCATIONS  records of memory by device, each allocation with its release
 *   CALLERS  the chains of operators around these, and ALLOCATIONS
 *   LOADS   how much of each device its kernels used (derive/loads.h), and LINKS
 *   SELECTION  what filters look up (derive/select.h), and LINKS and STEPS
 *   VIEWS   all that views are made from (derive/view.h): SELECTION, FOREST, arrows
 *
 * Columns lie in the chunks, the rest in derive/facts.h. What does not fit is counted in
 * osc_trace.findings; of a selected trace not what may be missing for being left out, such
 * as the launch of a kernel.
 *
 * Threading: thread-safe, under the lock of the trace (model/trace.h): of several callers
 * one makes a fact, the others wait for it. Facts are paid for by the account of the trace;
 * who has entered one that is cancelled gets OSC_ECANCELED, between two facts.
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
};

/*
 * Make FACTS (bits of enum osc_fact; what they rest on is made too) on at most
 * N_THREADS threads (0: all processors). On failure T has the facts that it had, and perhaps
 * some of FACTS.
 */
OSC_MUST_USE osc_status osc_derive(struct osc_trace *t, uint32_t facts, unsigned n_threads,
                                   struct osc_err *err);

/* Forget what only derive/ has counted in FOUND. */
void osc_derive_forget_findings(struct osc_findings *found);

/* For who has T alone: forget all facts and what was found on the way, as if none had been
 * made. */
void osc_derive_forget(struct osc_trace *t);
