/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cupti_state.h - what all parts of the collector for CUDA share.
 *
 * Threading: thread-safe; the functions are set before anything of CUPTI calls us.
 */
#pragma once

#include <stdatomic.h>

#include "sources/cuda/cupti_api.h"

/* The functions of CUPTI. */
extern struct osc_cupti osc_cupti __attribute__((visibility("hidden")));

/* Whether torch is recorded, too: then its allocator reports memory, which it takes from the
 * driver, and waits of the host are left out, as in Kineto's traces. */
extern _Atomic uint32_t osc_cupti_is_beside_torch __attribute__((visibility("hidden")));

/* Whether records have the time of CUPTI's own clock. */
extern _Atomic uint32_t osc_cupti_has_own_clock __attribute__((visibility("hidden")));

/* What goes wrong, counted as counters "cuda: TEXT" of the recording. */
#define OSC_CUPTI_COUNT_LIST(X)                                  \
    X(DROPPED, "cuda: activity records dropped by CUPTI")        \
    X(UNTIMED, "cuda: work without times")                       \
    X(UNFINISHED, "cuda: work that had not finished at the end") \
    X(UNKNOWN, "cuda: records that cannot be read")              \
    X(FLUSHES, "cuda: flushes that failed")

enum osc_cupti_count {
#define OSC_CUPTI_COUNT_ENUM(name, text) OSC_CUPTI_COUNT_##name,
    OSC_CUPTI_COUNT_LIST(OSC_CUPTI_COUNT_ENUM)
#undef OSC_CUPTI_COUNT_ENUM
};

void osc_cupti_count(enum osc_cupti_count what, uint64_t more);
