/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counters.h - how busy devices were, as counter tracks of Chrome's JSON.
 *
 * The tracks that TensorBoard's plugin adds in front of the traces it shows, from
 * derive/loads.h:
 *
 *   GPU N Utilization         share of each bucket in which any kernel ran
 *   GPU N Est. SM Efficiency  share of the multiprocessors that had work, at each
 *                             change; for devices whose kernels state it
 *
 * Each begins with 1 and 0, so that its scale reaches 1. A device without a unique number is
 * referred to by name. Tracks that the trace already has are left out.
 *
 * Threading: not locked.
 */
#pragma once

#include <stddef.h>

#include "base/status.h"
#include "model/trace.h"

/*
 * Pass the samples of T, which has LINKS, to WRITE in pieces: lines separated by ",\n". If
 * there are no kernels, WRITE is not called.
 */
OSC_MUST_USE osc_status osc_counters_write(const struct osc_trace *t,
                                           osc_status (*write)(void *ctx, const char *s,
                                                               size_t len),
                                           void *ctx);
