/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cl_work.h - a call that enqueues a command, and the command until it has finished.
 *
 *     struct osc_cl_call call;
 *
 *     event = osc_cl_begin(&call, queue, OSC_SOURCE_NAME("clEnqueueMarker"), event);
 *     return osc_cl_end(&call, osc_cl.clEnqueueMarker(queue, event),
 *                       &(struct osc_cl_work){.kind = OSC_WORK_SYNC, .name = ...});
 *
 * The recorder is not called while it is off, nor within a call of the same thread: some
 * drivers enqueue by the functions that programs call.
 *
 * Threading: a call belongs to its thread. Commands finish on any thread, and are recorded on
 * that of the next call on their queue, if others are still under way.
 */
#pragma once

#include "opscope/source.h"
#include "sources/opencl/cl_queues.h"
#include "sources/source_text.h"

#define OSC_CL_VARIANTS 8u

/* What is known of a kernel. Drivers compile it anew for other work groups. */
struct osc_cl_kernel {
    _Atomic uint32_t name; /* osc_name */
    /* Variants that have finished once, so that they are compiled: the last ones; 0: none. */
    _Atomic uint64_t ran[OSC_CL_VARIANTS];
    _Atomic uint32_t n_ran;
};

struct osc_cl_work {
    enum osc_work_kind kind;
    osc_name name;
    uint64_t bytes;               /* 0: unknown */
    struct osc_cl_kernel *kernel; /* NULL: no kernel */
    uint64_t variant;             /* of the kernel; differs if it may be compiled anew; not 0 */
    uint32_t n_dims;              /* of the two below, of a kernel */
    size_t global[3], local[3];   /* work items; local[0] == 0: the driver chooses */
};

struct osc_cl_call {
    struct osc_cl_queue *queue; /* NULL: not recorded */
    bool is_lost;               /* it should be, but the queue is not known */
    cl_event own;               /* if the program wants no event */
    cl_event *event;            /* the program's, or &own */
    uint64_t launch;            /* of the work */
    uint64_t before;            /* ticks */
    bool has_readings;
    struct osc_cl_readings readings;
};

/* Begin the call NAME on QUEUE, whose event goes to EVENT, or if that is NULL nowhere. Returns
 * where the function below must put it. */
cl_event *osc_cl_begin(struct osc_cl_call *c, cl_command_queue queue, osc_name name,
                       cl_event *event);

/* End a call that returned ERROR, and return ERROR. If it enqueued WORK, that is recorded once
 * it has finished. */
cl_int osc_cl_end(struct osc_cl_call *c, cl_int error, const struct osc_cl_work *work);

/* Count a block of memory that is not recorded. */
void osc_cl_count_memory(void);

/* Begin and end a call that enqueues nothing. False: it is not recorded. */
bool osc_cl_begin_plain(osc_name name);
void osc_cl_end_plain(bool is_recorded);

/* Before the first call, and after the last one of a loader that ends the layer: what calls
 * back later is ignored. */
void osc_cl_work_begin(void);
void osc_cl_work_end(void);

/* The compiler of a driver was used: be asked by exit() before it ends. */
void osc_cl_work_expect_exit(void);

/* At the end of the process: wait for a moment for what still runs, and count what does not
 * end.
 */
void osc_cl_work_drain(void);
