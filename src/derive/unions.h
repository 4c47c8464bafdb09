/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unions.h - when anything of a class ran, whichever thread or queue ran it.
 *
 * One merged list of intervals per class of event, over the whole trace. Classes stand in
 * order of priority: where several run at once, the step breakdown gives the time to the
 * first.
 *
 *   - Communication is kernels of communication libraries. A trace without any (Gloo, MPI)
 *     counts the host ranges of its collectives instead; beside device communication those
 *     are cpu_exec.
 *   - With COMPAT_TB: kernels whose external id is that of one of the plugin's ten
 *     collectives, and the host ranges of these, always.
 *
 * Threading: made in parallel; read-only afterwards.
 */
#pragma once

#include "base/idmap.h"
#include "base/status.h"
#include "derive/classify.h"
#include "derive/intervals.h"
#include "derive/order.h"
#include "model/trace.h"

#define OSC_CLASS_LIST(X)             \
    X(KERNEL, "kernel")               \
    X(MEMCPY, "memcpy")               \
    X(MEMSET, "memset")               \
    X(COMMUNICATION, "communication") \
    X(RUNTIME, "runtime")             \
    X(DATALOADER, "dataloader")       \
    X(CPU_EXEC, "cpu_exec")

enum osc_class {
#define OSC_CLASS_ENUM(name, text) OSC_CLASS_##name,
    OSC_CLASS_LIST(OSC_CLASS_ENUM)
#undef OSC_CLASS_ENUM
        OSC_CLASS_COUNT
};

/* Zeroed, it is empty. */
struct osc_unions {
    struct osc_intervals of[OSC_CLASS_COUNT]; /* merged */
};

OSC_MUST_USE osc_status osc_unions_make(const struct osc_trace *t, const struct osc_classes *c,
                                        const struct osc_order *order, bool compat_tb,
                                        unsigned n_threads, struct osc_unions *u);
void osc_unions_fini(struct osc_unions *u);
