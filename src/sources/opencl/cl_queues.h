/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cl_queues.h - the devices and queues of programs, and how their clocks relate to ours.
 *
 * Devices are numbered in the order in which OpenCL lists them, over all platforms. Times of a
 * device are those of its driver, of which the standard says nothing. A command's QUEUED time
 * lies within the call that enqueued it, so each call is a pair of readings. If this time is
 * that of one of the host's clocks (cl_host_clocks.h), that clock is read instead, which is
 * closer.
 *
 * Threading: thread-safe; queues and devices are never freed.
 */
#pragma once

#include <pthread.h>

#include "sources/opencl/cl_functions.h"
#include "sources/opencl/cl_host_clocks.h"

struct osc_cl_device {
    cl_device_id id;
    _Atomic uint32_t is_used;   /* what follows is set */
    uint32_t number;            /* from osc_device_add() */
    bool is_host_memory;        /* mapping moves nothing */
    _Atomic uint32_t clock;     /* enum osc_cl_clock */
    _Atomic uint64_t paired_ns; /* when it was compared last */
};

struct osc_cl_queue {
    struct osc_cl_device *device;
    uint32_t number;              /* from osc_queue_add() */
    bool is_timed;                /* the driver takes times */
    bool is_asked;                /* the program wanted them */
    bool has_list;                /* the program gave properties ... */
    cl_queue_properties list[16]; /* ... these, with their 0 */
    uint32_t n_list;
};

/* The queue of HANDLE; NULL: it was not made here. */
struct osc_cl_queue *osc_cl_queue_of(cl_command_queue handle);

/* The device of ID, which is added if it is new; NULL: no memory. */
struct osc_cl_device *osc_cl_device_of(cl_device_id id);

/* DEVICE's clock showed QUEUED_NS (0: unknown) in a call between BEFORE and AFTER, ticks of
 * osc_now(); and if READINGS is not NULL, the clocks of the host these. False: its clock has
 * never been compared with ours. */
bool osc_cl_clock_pair(struct osc_cl_device *device, uint64_t before, uint64_t queued_ns,
                       uint64_t after, const struct osc_cl_readings *readings);

/* Compare the clock of DEVICE a last time. */
void osc_cl_clock_end(const struct osc_cl_device *device);

/* In the child of a fork: nobody may open what was locked. */
void osc_cl_queues_forked(void);

/* Call EACH for every device. */
void osc_cl_each_device(void (*each)(const struct osc_cl_device *device));
