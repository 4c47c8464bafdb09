/* SPDX-License-Identifier: Apache-2.0 */
/*
 * averages_order.h - rows in torch's order: start, longer first, order of the file.
 *
 * Threading: pure functions.
 */
#ifndef OSC_ANALYSIS_AVERAGES_ORDER_H
#define OSC_ANALYSIS_AVERAGES_ORDER_H

#include <stdint.h>

#include "base/status.h"
#include "model/trace.h"

struct osc_avg_key {
    uint64_t start; /* from the least start of the trace */
    uint32_t row;   /* osc_row of the store of events */
    uint32_t name;  /* payload */
};

/*
 * Sort the N keys at KEYS. SPARE is room for N more. The sorted keys are at
 * *SORTED, which is one of the two.
 */
OSC_MUST_USE osc_status osc_avg_sort(const struct osc_store *events, struct osc_avg_key *keys,
                                     struct osc_avg_key *spare, uint32_t n,
                                     struct osc_avg_key **sorted);

#endif
