/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lttng_points.h - two tracepoints of LTTng-UST, with one number and with two, for begin and
 * end. Its headers include this one several times.
 *
 * Threading: see LTTng-UST.
 */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER opscope_bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "lttng_points.h"

#if !defined OSC_BENCH_LTTNG_POINTS_H || defined LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ
#define OSC_BENCH_LTTNG_POINTS_H

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(opscope_bench, begin, LTTNG_UST_TP_ARGS(int, id),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, id, id)))

LTTNG_UST_TRACEPOINT_EVENT(opscope_bench, end, LTTNG_UST_TP_ARGS(int, id, int, value),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, id, id)
                                                   lttng_ust_field_integer(int, value, value)))

#endif

#include <lttng/tracepoint-event.h>
