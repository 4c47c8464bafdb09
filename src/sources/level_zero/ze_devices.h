/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ze_devices.h - the devices of Level Zero, their engines, and how their clocks relate to ours.
 *
 * Devices are numbered over all drivers, in the order in which they are listed: "xpu:0",
 * "xpu:1", and for neural processors "npu:0". A part of a device (a tile) counts as its device;
 * the names of its engines say which part it is.
 *
 * Clocks of devices have few bits and are cut anew for kernels: 32 bits at 19.2 MHz last 223
 * seconds. Here they are extended to 64 bits by the time that has passed on the host, so that
 * what is recorded never wraps.
 *
 * Threading: thread-safe; devices are never freed.
 */
#pragma once

#include <pthread.h>

#include "sources/level_zero/ze_functions.h"

struct osc_ze_engine;

struct osc_ze_device {
    ze_device_handle_t handle;
    struct osc_ze_device *root; /* the device of which this is a part; itself if it is whole */
    uint32_t tile;              /* of a part */
    const char *type;           /* "xpu", "npu" */
    uint32_t index;
    char name[ZE_MAX_DEVICE_NAME];
    _Atomic uint32_t number; /* from osc_device_add(); 0: it was not used yet */

    /* Of the clock. */
    uint64_t hz; /* 0: unknown */
    uint64_t global_mask, kernel_mask;

    pthread_mutex_t lock; /* of what follows; nobody calls the driver with it */
    struct osc_ze_engine *engines;
    bool is_read, is_unreadable;
    bool is_being_read;           /* by a thread: others need not */
    uint64_t read_ns, read_ticks; /* the last reading: CLOCK_MONOTONIC, extended ticks */
};

/* Ask all drivers for their devices. */
void osc_ze_find_devices(void);

/* The device HANDLE, which is reported if it is new; NULL: unknown. */
struct osc_ze_device *osc_ze_device_of(ze_device_handle_t handle);

/* The queue of the recording for an engine of DEVICE: the INDEX-th of the group ORDINAL. */
uint32_t osc_ze_engine(struct osc_ze_device *device, uint32_t ordinal, uint32_t index);

/* CLOCK_MONOTONIC, in ns. */
uint64_t osc_ze_now_ns(void);

/* Compare the clock of DEVICE, or those of all that are used, unless it was done a
 * moment ago or IS_LAST. */
void osc_ze_read_clock(struct osc_ze_device *device, bool is_last);
void osc_ze_read_all_clocks(bool is_last);

/* What DEVICE's extended clock showed at NS; 0: unknown. */
uint64_t osc_ze_ticks_at(struct osc_ze_device *device, uint64_t ns);

/*
 * The extended ticks of a command's START and END, which was submitted at SUBMIT_NS: the first
 * time with these low bits that is not long before it. False: the clock of DEVICE cannot be
 * read.
 */
bool osc_ze_extend(struct osc_ze_device *device, uint64_t submit_ns, uint64_t *start,
                   uint64_t *end);
