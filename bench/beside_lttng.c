/* SPDX-License-Identifier: Apache-2.0 */
/* Begin and end of a scope as tracepoints of LTTng-UST. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng_points.h"

void bench_lttng(unsigned i);

void bench_lttng(unsigned i)
{
    lttng_ust_tracepoint(opscope_bench, begin, (int)i);
    lttng_ust_tracepoint(opscope_bench, end, (int)i, (int)i);
}
