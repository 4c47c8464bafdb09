/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counters.h - how busy devices were, as counter tracks of Chrome's JSON.
 *
 * What TensorBoard's plugin puts at the front of the traces that it shows, from
 * derive/loads.h:
 *
 *   GPU N Utilization         part of each bucket in which any kernel ran
 *   GPU N Est. SM Efficiency  share of the multiprocessors that had work, at each
 *                             change; of devices whose kernels say it
 *
 * Each begins with 1 and 0, so that its scale reaches 1. A device without a number
 * of its own is called by its name. Tracks that the trace has itself are left out.
 *
 * Threading: not locked.
 */
#pragma once

#include <stddef.h>

#include "base/status.h"
#include "model/trace.h"

/*
 * Hand the samples of T, which has LINKS, to WRITE in pieces: lines with ",\n"
 * between them. Without kernels it is not called.
 */
OSC_MUST_USE osc_status osc_counters_write(const struct osc_trace *t,
                                           osc_status (*write)(void *ctx, const char *s,
                                                               size_t len),
                                           void *ctx);
