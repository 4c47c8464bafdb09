/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unions.h - when anything of a class ran, on whatever thread or queue.
 *
 * One merged list of intervals per class of event, over the whole trace. Classes are in order
 * of priority: if several run at once, the step breakdown gives the time to the first.
 *
 *   - Communication is kernels of communication libraries. In a trace without any (Gloo,
 *     MPI) it is the host ranges of collectives; in other traces those are cpu_exec.
 *   - With COMPAT_TB: always the kernels with the external id of one of the plugin's ten
 *     collectives, and the host ranges of these collectives.
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
