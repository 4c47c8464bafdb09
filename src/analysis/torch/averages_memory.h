/* SPDX-License-Identifier: Apache-2.0 */
/*
 * averages_memory.h - bytes allocated within a closed interval, on any thread.
 *
 * torch counts for every range the allocations and releases between its two ends, including
 * both, whatever thread made them. Prefix sums make that a short search.
 *
 * Threading: not locked; one thread builds, then any number of readers.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "base/wide.h"
#include "model/trace.h"

struct osc_avg_record {
    int64_t time_ns;
    osc_wide cpu_bytes, device_bytes; /* its own bytes; after sealing, the sum of all before
                                       * it */
    uint32_t row;
};

/* Zeroed, it is empty. */
struct osc_avg_records {
    struct osc_avg_record *all; /* owned; sorted by time, then row; one more at the end */
    size_t n, cap;
};

void osc_avg_records_fini(struct osc_avg_records *r);

/* The bytes of the record in row I of C, on the side where they count. */
void osc_avg_record_bytes(const struct osc_trace *t, const struct osc_chunk *c, uint32_t i,
                          osc_wide *cpu_bytes, osc_wide *device_bytes);

OSC_MUST_USE osc_status osc_avg_records_add(struct osc_avg_records *r,
                                            const struct osc_trace *t,
                                            const struct osc_chunk *c, uint32_t i);

/* Sort and sum; nothing can be added afterwards. */
OSC_MUST_USE osc_status osc_avg_records_seal(struct osc_avg_records *r);

/*
 * The bytes between START_NS and END_NS, including both. *FIRST is 0 before the first call and
 * internal afterwards: START_NS must not decrease from call to call.
 */
void osc_avg_records_between(const struct osc_avg_records *r, size_t *first, int64_t start_ns,
                             int64_t end_ns, osc_wide *cpu_bytes, osc_wide *device_bytes);
