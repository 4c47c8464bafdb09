/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source.h - for who makes devices: report finished work, and it is in every table.
 *
 *     uint32_t npu = osc_device_add(&(struct osc_device_info){.type = "npu", ...});
 *     uint32_t queue = osc_queue_add(npu, "compute 0");
 *     osc_device_clock(npu, before, ticks_of_the_device, after);      // now and then
 *     uint64_t id = osc_launch();                    // in the call that launches it
 *     osc_work(queue, &(struct osc_work_info){.correlation = id, ...}); // once it is done
 *
 *   - A device has a clock of its own. osc_device_clock() relates it to osc_now(); the
 *     reader fits offset and drift over all pairs and states them. Without a pair, ticks
 *     are taken as those of osc_now().
 *   - As all recording calls, these never fail: they drop and count.
 *
 * Threading: any thread at any time.
 */
#ifndef OPSCOPE_SOURCE_H
#define OPSCOPE_SOURCE_H

#include "record.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a device can do, for the tables `devices` and `kernels` and for advice; 0: not known. */
struct osc_device_limits_info {
    uint32_t n_units;      /* compute units: multiprocessors, cores, slices */
    uint32_t major, minor; /* generation of its instruction set; minor counts if major does */
    uint32_t threads_per_block; /* of one group that is launched, at most */
    uint32_t threads_per_unit;  /* resident on a unit, at most */
    uint32_t registers_per_unit;
    uint32_t shared_bytes_per_block, shared_bytes_per_unit;
    uint32_t simd_width; /* threads that run in step */
};

struct osc_device_info {
    const char *type;      /* its family: "cuda", "xpu", "npu", ...: a word of small letters */
    uint32_t index;        /* "cuda:1" is type "cuda", index 1 */
    const char *name;      /* what it is called, such as "NVIDIA A100"; may be NULL */
    uint64_t memory_bytes; /* 0: not known */
    uint64_t clock_hz;     /* ticks of its clock a second; 0: fitted from the pairs */
    struct osc_device_limits_info limits;
};

/*
 * A device of this process, for osc_memory_alloc() and osc_queue_add(); the same type
 * and index give the same number. OSC_DEVICE_CPU if there is no room (counted).
 */
OSC_API uint32_t osc_device_add(const struct osc_device_info *info);

/* A queue (stream) of DEVICE; NAME may be NULL. */
OSC_API uint32_t osc_queue_add(uint32_t device, const char *name);

/*
 * DEVICE's clock showed DEVICE_TICKS at some time between BEFORE and AFTER (of
 * osc_now()). The closer the two, the more the pair counts.
 */
OSC_API void osc_device_clock(uint32_t device, uint64_t before, uint64_t device_ticks,
                              uint64_t after);

/*
 * A number that no other launch of this process has, noted on the innermost scope of
 * this thread: the work that carries it was launched by that scope.
 */
OSC_API uint64_t osc_launch(void);

/*
 * COMMUNICATION is a kernel that exchanges data with other devices, SYNC a time in which
 * the device waited: neither is work of the program.
 */
enum osc_work_kind {
    OSC_WORK_KERNEL,
    OSC_WORK_MEMCPY,
    OSC_WORK_MEMSET,
    OSC_WORK_SYNC,
    OSC_WORK_COMMUNICATION,
    OSC_WORK_KIND_COUNT
};

/* Finished work. Ticks are of the device's clock; 0: not known (start and end are). */
struct osc_work_info {
    enum osc_work_kind kind;
    osc_name name;
    uint64_t append_ticks; /* put into the queue */
    uint64_t submit_ticks; /* handed to the device */
    uint64_t start_ticks;
    uint64_t end_ticks;
    uint64_t correlation; /* of osc_launch(); 0: none */
    uint64_t bytes;       /* moved or set; 0: not known */
};

OSC_API void osc_work(uint32_t queue, const struct osc_work_info *info);

#ifdef __cplusplus
}
#endif

#endif
