/* SPDX-License-Identifier: Apache-2.0 */
/*
 * allocations.h - memory records by device, each allocation with its release.
 *
 * Records of one device stand in order of time (ties: order of the file), so that a range
 * of time is found by bisection. In that order an allocation is kept under its address
 * until a release of the same process, device and address takes it, or another allocation
 * there shows that the release was not recorded. Nothing is dropped: what has no
 * counterpart says so.
 *
 *   - A record without a size (argument Bytes, a whole number) is none; it is
 *     counted in n_unusable.
 *   - A device is (process, Device Type, Device Id); the CPU is one whatever its id.
 *     Records whose type or id is missing or absurd belong to a device "unknown" of
 *     their process, where nothing is paired: it may be several.
 *
 * Threading: one writer; read-only afterwards.
 */
#pragma once

#include "base/status.h"
#include "derive/memory_operators.h"
#include "model/trace.h"

struct osc_allocation_record {
    int64_t time_ns; /* on the clock of the file */
    int64_t bytes;   /* > 0: an allocation; else a release */
    uint32_t row;
    uint32_t node;  /* the deepest node of the operator tree that holds it, or 0 */
    uint32_t other; /* index in records + 1, or 0: of an allocation what ended it, its
                       release or the allocation that took its address; of a release
                       its allocation */
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
    struct osc_allocation_record *records; /* owned; device after device */
    struct osc_memory_device *devices;     /* owned; by their first record in time */
    uint32_t n_records, n_devices;
    uint32_t n_unusable;
    bool has_addresses; /* some record has one */
};

/* Devices of a trace; records of more are those of "unknown". */
#define OSC_MEMORY_DEVICES_MAX 4096u

/* Pair the records M of T, and count in t->findings what does not fit. */
OSC_MUST_USE osc_status osc_allocations_make(struct osc_trace *t, const struct osc_memory *m,
                                             struct osc_allocations *a);
/* How the device of records with Device Type TYPE and Device Id ID is called: FAMILY:N. */
void osc_memory_device_name(const struct osc_trace *t, uint32_t type, int32_t id,
                            char name[OSC_MEMORY_DEVICE_NAME]);

void osc_allocations_fini(struct osc_allocations *a);

/* The address of row I as the 64 bits that it is, however it is written. */
bool osc_allocation_address(const struct osc_trace *t, const struct osc_chunk *c, uint32_t i,
                            uint64_t *address);

/* The first record of D that is not before AT_NS: d->first + d->n if there is none. */
uint32_t osc_allocations_at(const struct osc_allocations *a, const struct osc_memory_device *d,
                            int64_t at_ns);

/* The first record of D that is after AT_NS. */
static inline uint32_t osc_allocations_after(const struct osc_allocations *a,
                                             const struct osc_memory_device *d, int64_t at_ns)
{
    return at_ns == INT64_MAX ? d->first + d->n : osc_allocations_at(a, d, at_ns + 1);
}

/* Whether allocation K still stands once record END is done: K <= END < its end. */
static inline bool osc_allocation_is_live(const struct osc_allocations *a, uint32_t k,
                                          uint32_t end)
{
    const struct osc_allocation_record *const r = &a->records[k];

    return r->bytes > 0 && k <= end && (r->other == 0 || r->other - 1 > end);
}
