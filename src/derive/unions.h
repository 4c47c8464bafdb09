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
 * A part of a trace may carry what ran in its steps and is not in it (osc_trace.bystanders);
 * that counts here, so that selecting a step does not change how its time divides.
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

/* Which rows count, if not all do. */
typedef bool osc_wants_row(const void *ctx, const struct osc_chunk *c, uint32_t i);

/* How rows get their class. Without what is owned, it is empty. */
struct osc_classing {
    const struct osc_trace *t; /* borrowed, as are the next two */
    const struct osc_classes *c;
    const struct osc_order *order;
    bool compat_tb;
    bool has_comm_kernels;        /* so host ranges are no communication */
    osc_wants_row *wants;         /* NULL: all rows; which may be collectives of the plugin */
    const void *ctx;              /* of wants */
    struct osc_idmap collectives; /* owned; external ids of the plugin's collectives */
    uint8_t *by_form;             /* owned; enum osc_class, or how to find it */
};

/* Make what K owns of the rest of it. On failure that is empty. */
OSC_MUST_USE osc_status osc_classing_make(struct osc_classing *k);
void osc_classing_fini(struct osc_classing *k);

/* The class of row I of C, or OSC_CLASS_COUNT if it counts towards none. */
enum osc_class osc_class_of(const struct osc_classing *k, const struct osc_chunk *c,
                            uint32_t i);

/* Zeroed, it is empty. */
struct osc_unions {
    struct osc_intervals of[OSC_CLASS_COUNT]; /* merged */
};

OSC_MUST_USE osc_status osc_unions_make(const struct osc_trace *t, const struct osc_classes *c,
                                        const struct osc_order *order, bool compat_tb,
                                        unsigned n_threads, struct osc_unions *u);
void osc_unions_fini(struct osc_unions *u);
