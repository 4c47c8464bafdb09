/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extents.h - the size and the device of memory that was allocated before the trace, from the
 * tensors in it.
 *
 * The size is that of the largest tensor that a call took there or that a module or an
 * optimizer held, from its first byte to its last: the largest size x stride, as in torch's own
 * memory profiler. Lists of tensors do not say their dtypes, so they count nothing.
 *
 *   - `Storages` leaves out tensors without memory. A call whose tensors do not match it, also
 *     without those that have no element, tells no size.
 *   - `Storage devices` says where the tensors of a call are; a call without it has them on the
 *     CPU. Of several calls the first tells.
 *
 * Threading: not locked; the trace is read only.
 */
#pragma once

#include "analysis/memory/data_flow.h"

struct osc_extent {
    int64_t bytes;  /* -1: no tensor says it */
    int32_t device; /* 256 x Device Type + Device Id; -1: no call says it */
};

/* Set EXTENTS, by object of FLOW, for those without a record in T. */
OSC_MUST_USE osc_status osc_extents_find(const struct osc_trace *t,
                                         const struct osc_touches *touches,
                                         const struct osc_data_flow *flow,
                                         struct osc_extent *extents);
