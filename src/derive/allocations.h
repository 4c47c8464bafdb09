/* SPDX-License-Identifier: Apache-2.0 */
/*
 * allocations.h - memory records by device, each allocation paired with its release.
 *
 * Records of one device are sorted by time (ties: order of the file), so that a range of time
 * is found by bisection. In that order an allocation is open at its address until a release
 * with the same process, device and address ends it, or another allocation at the address
 * shows that its release was not recorded. Nothing is dropped: a record without a counterpart
 * is marked as such.
 *
 *   - A record without a usable size (argument Bytes, an integer) is skipped and counted in
 *     n_unusable.
 *   - A device is (process, Device Type, Device Id); the CPU is one device whatever its id.
 *     Records without a valid type or id belong to a device "unknown" of their process,
 *     where nothing is paired: it may stand for several devices.
 *
 * Threading: one writer; read-only afterwards.
 */
#pragma once

#include "base/sort.h"
#include "base/status.h"
#include "derive/memory_operators.h"
#include "model/trace.h"

struct osc_allocation_record {
    int64_t time_ns; /* on the clock of the file */
    int64_t bytes;   /* > 0: an allocation; otherwise a release */
    uint32_t row;
    uint32_t node;  /* the deepest node of the operator tree that contains it, or 0 */
    uint32_t other; /* index in records + 1, or 0: for an allocation the release that ended it,
                     * or the allocation that reused its address; for a release its
                     * allocation */
};

#define OSC_MEMORY_DEVICE_NAME 32

struct osc_memory_device {
    char name[OSC_MEMORY_DEVICE_NAME]; /* FAMILY:N */
    int32_t type, id;                  /* arguments Device Type and Device Id; -1: none */
    uint32_t process;                  /* index in osc_trace.processes */
    uint32_t first, n;
    bool is_unknown;
};

/* Zeroed, it is empty. */
struct osc_allocations {
    struct osc_allocation_record *records; /* owned; grouped by device */
    struct osc_memory_device *devices;     /* owned; in order of their first record */
    uint32_t n_records, n_devices;
    uint32_t n_unusable;
    bool has_addresses; /* some record has an address */
};

/* Most devices of a trace; records of further devices belong to "unknown". */
#define OSC_MEMORY_DEVICES_MAX 4096u

/* Pair the records M of T, and count inconsistencies in t->findings. */
OSC_MUST_USE osc_status osc_allocations_make(struct osc_trace *t, const struct osc_memory *m,
                                             struct osc_allocations *a);
/* Write the name of a device, FAMILY:N, by its Device Type TYPE and Device Id ID. */
void osc_memory_device_name(const struct osc_trace *t, uint32_t type, int32_t id,
                            char name[OSC_MEMORY_DEVICE_NAME]);

void osc_allocations_fini(struct osc_allocations *a);

/* The address of row I as 64 bits, in whatever way it is written. */
bool osc_allocation_address(const struct osc_trace *t, const struct osc_chunk *c, uint32_t i,
                            uint64_t *address);

/* The device of record K: their records lie one device after the other. */
static inline const struct osc_memory_device *osc_allocations_device(
    const struct osc_allocations *a, uint32_t k)
{
    uint32_t low = 0, high = a->n_devices;

    OSC_BISECT(low, high, i, a->devices[i].first <= k);
    return &a->devices[low - 1];
}

/* The first record of D at AT_NS or later; d->first + d->n if there is none. */
uint32_t osc_allocations_at(const struct osc_allocations *a, const struct osc_memory_device *d,
                            int64_t at_ns);

/* The first record of D after AT_NS. */
static inline uint32_t osc_allocations_after(const struct osc_allocations *a,
                                             const struct osc_memory_device *d, int64_t at_ns)
{
    return at_ns == INT64_MAX ? d->first + d->n : osc_allocations_at(a, d, at_ns + 1);
}

/* Whether allocation K is live after record END: K <= END < the record that ends K. */
static inline bool osc_allocation_is_live(const struct osc_allocations *a, uint32_t k,
                                          uint32_t end)
{
    const struct osc_allocation_record *const r = &a->records[k];

    return r->bytes > 0 && k <= end && (r->other == 0 || r->other - 1 > end);
}
