/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source.h - for vendors of devices: report finished work, and every table shows it.
 *
 *     uint32_t npu = osc_device_add(&(struct osc_device_info){.type = "npu", ...});
 *     uint32_t queue = osc_queue_add(npu, "compute 0");
 *     osc_device_clock(npu, before, ticks_of_the_device, after);      // now and then
 *     uint64_t id = osc_launch();                    // in the call that launches it
 *     osc_work(queue, &(struct osc_work_info){.correlation = id, ...}); // once it is done
 *
 *   - A device has a clock of its own. osc_device_clock() relates it to osc_now(); the
 *     reader fits offset and drift over all pairs and shows both. Without any pair, device
 *     ticks are read as ticks of osc_now().
 *   - These functions never fail: like all recording calls they drop records and count them.
 *
 * Threading: any thread may call any function at any time.
 */
#ifndef OPSCOPE_SOURCE_H
#define OPSCOPE_SOURCE_H

#include "record.h"

#ifdef OPSCOPE_DISABLE
#pragma push_macro("OSC_API")
#undef OSC_API
#define OSC_API OSC_DISABLED_
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What a device can do, for the tables `devices` and `kernels` and for advice. 0: unknown. */
struct osc_device_limits_info {
    uint32_t n_units;      /* compute units: multiprocessors, cores, slices */
    uint32_t major, minor; /* generation of its instruction set; minor is used only if major is
                            * not 0 */
    uint32_t threads_per_block; /* of one launched group, at most */
    uint32_t threads_per_unit;  /* resident on a unit, at most */
    uint32_t registers_per_unit;
    uint32_t shared_bytes_per_block, shared_bytes_per_unit;
    uint32_t simd_width; /* threads that execute together */
};

struct osc_device_info {
    const char *type;      /* its family, a lower-case word: "cuda", "xpu", "npu", ... */
    uint32_t index;        /* "cuda:1" is type "cuda", index 1 */
    const char *name;      /* model, such as "NVIDIA A100"; may be NULL */
    uint64_t memory_bytes; /* 0: unknown */
    uint64_t clock_hz;     /* ticks of its clock per second; 0: fitted from the pairs */
    struct osc_device_limits_info limits;
};

/*
 * Register a device of this process, for osc_memory_alloc() and osc_queue_add(), and return
 * its number. The same type and index give the same number. A device that was added by these
 * two alone takes the rest from the first INFO that has more. INFO is copied. Returns
 * OSC_DEVICE_CPU if there is no room (the loss is counted).
 */
OSC_API uint32_t osc_device_add(const struct osc_device_info *info);

/* The number of the device of this process that was added with TYPE and INDEX; OSC_DEVICE_CPU
 * if none was. */
OSC_API uint32_t osc_device_find(const char *type, uint32_t index);

/* Register a queue (stream) of DEVICE and return its number, for osc_work(). NAME is copied
 * and may be NULL. A process has at most 3,840; further ones of a device share a queue that is
 * called "other queues". */
OSC_API uint32_t osc_queue_add(uint32_t device, const char *name);

/*
 * Report that DEVICE's clock showed DEVICE_TICKS at some time between BEFORE and AFTER (both
 * from osc_now()). The closer the two are, the more weight the pair has. The last pair is also
 * that of recordings that begin later.
 */
OSC_API void osc_device_clock(uint32_t device, uint64_t before, uint64_t device_ticks,
                              uint64_t after);

/*
 * Return a number that no other launch of this process has, and record it on the innermost
 * scope of this thread. Work that carries the number was launched by that scope. One that
 * launches several works may take a number for each.
 */
OSC_API uint64_t osc_launch(void);

/* Whether LAUNCH is of an earlier recording, or before the window of a schedule: osc_work()
 * leaves its work out. */
OSC_API int osc_launch_is_earlier(uint64_t launch);

/*
 * Begin and end a call into a runtime whose work the caller reports. What this thread asks of
 * other runtimes meanwhile is a part of that: libopscope-collect, which records CUDA, Level
 * Zero and OpenCL, leaves these calls and their work out, so that no work is counted twice.
 * Calls nest.
 */
OSC_API void osc_runtime_enter(void);
OSC_API void osc_runtime_leave(void);

/* Whether this thread is between the two; 0: it is not. */
OSC_API int osc_runtime_is_inside(void);

/*
 * COMMUNICATION is a kernel that exchanges data with other devices; SYNC is a time in which
 * the device waited. Neither counts as work of the program.
 */
enum osc_work_kind {
    OSC_WORK_KERNEL,
    OSC_WORK_MEMCPY,
    OSC_WORK_MEMSET,
    OSC_WORK_SYNC,
    OSC_WORK_COMMUNICATION,
    OSC_WORK_KIND_COUNT
};

/* Finished work. Times are ticks of the device's clock. 0: unknown; start and end are
 * required. Work that was launched before the recording, or the window of a
 * schedule, began is left out. */
struct osc_work_info {
    enum osc_work_kind kind;
    osc_name name;
    uint64_t append_ticks; /* when it was put into the queue */
    uint64_t submit_ticks; /* when it was handed to the device */
    uint64_t start_ticks;
    uint64_t end_ticks;
    uint64_t correlation; /* from osc_launch(); 0: none */
    uint64_t bytes;       /* bytes moved or set; 0: unknown */
};

OSC_API void osc_work(uint32_t queue, const struct osc_work_info *info);

/*
 * Call REPORT before a window of a schedule or the recording ends by a call, on the thread that
 * ends it: what has finished and was not reported until then is left out. It must not wait for
 * a device, and whoever ends a step or the recording must not hold a lock that it takes. It is
 * not called at the end of the process, nor where a signal handler may run. At most eight
 * functions in a process, each once; they stay.
 */
OSC_API void osc_before_end(void (*report)(void));

#ifdef OPSCOPE_DISABLE
#pragma pop_macro("OSC_API")
#endif

#ifdef __cplusplus
}
#endif

#endif
