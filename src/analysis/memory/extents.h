/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extents.h - the size of memory that was allocated before the trace, from the tensors in it.
 *
 * The size is that of the largest tensor that a call took there or that a module or an
 * optimizer held, from its first byte to its last: the largest size x stride, as in torch's own
 * memory profiler. Lists of tensors do not say their dtypes, so they count nothing.
 *
 *   - `Storages` leaves out tensors without memory. A call whose tensors do not match it, also
 *     without those that have no element, counts nothing.
 *
 * Threading: not locked; the trace is read only.
 */
#pragma once

#include "analysis/memory/data_flow.h"

/* Set BYTES, by object of FLOW, for those without a record in T: -1 if no tensor says it. */
OSC_MUST_USE osc_status osc_extents_find(const struct osc_trace *t,
                                         const struct osc_touches *touches,
                                         const struct osc_data_flow *flow, int64_t *bytes);
