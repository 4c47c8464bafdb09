/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_properties.h - what the file says about the devices of its machine.
 *
 * Kineto writes a list `deviceProperties` beside the events: what the runtime knew
 * of every device, whether the program used it or not. CUDA and ROCm differ in some
 * members, old files have fewer, CPU traces an empty list.
 *
 * Threading: not locked.
 */
#ifndef OSC_ANALYSIS_DEVICE_PROPERTIES_H
#define OSC_ANALYSIS_DEVICE_PROPERTIES_H

#include "base/arena.h"
#include "base/idmap.h"
#include "base/status.h"
#include "base/str.h"
#include "model/trace.h"

/* One device; what the file does not say is empty or -1. */
struct osc_device_properties {
    int64_t id;           /* N of "cuda:N": member `id`, else its place in the list */
    struct osc_str name;  /* borrowed from the list */
    int64_t memory_bytes; /* `totalGlobalMem` */
    int64_t major, minor; /* `computeMajor`, `computeMinor` */
    int64_t sm_count;     /* `numSms`: multiprocessors, compute units */
};

/* In order of the file. Zeroed, it is empty. */
struct osc_device_properties_list {
    struct osc_device_properties *v; /* owned */
    size_t n, cap;
    struct osc_idmap of_id; /* index + 1; of several with one id the first */
    struct osc_arena arena; /* names */
};

/* Read those of T into L, zeroed before, which the caller finishes in either case. */
OSC_MUST_USE osc_status osc_device_properties_read(const struct osc_trace *t,
                                                   struct osc_device_properties_list *l);
void osc_device_properties_fini(struct osc_device_properties_list *l);

/* The properties of device ID, or NULL. */
const struct osc_device_properties *osc_device_properties_find(
    const struct osc_device_properties_list *l, int64_t id);

#endif
