/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sides.h - what a comparison keeps of one run.
 *
 * A run may be many ranks that are read one by one. Of each trace a digest remains: tables like
 * any other, with map, place and merge, that no user sees. Two digests, of the base and of the
 * new run, are all that a comparison reads.
 *
 *   steps      a row per kept step: its length and its parts, summed over the processes that
 *              have it
 *   operators  a row per operator (and shape) and step: calls, times, and the logarithms of the
 *              times of single calls (analysis/call_logs.h)
 *   kernels    the same per kernel; its time is in the first of the columns
 *   calls      a row per pair of operators of which one calls the other
 *   tree       a row per place in the tree of ranges (side_tree.h)
 *   about      devices and hosts
 *
 * A step is identified by its span and its ordinal: ranks of one run do the same steps.
 *
 * Threading: constants.
 */
#pragma once

#include "table/table.h"

enum osc_side {
    OSC_SIDE_ABOUT,
    OSC_SIDE_STEPS,
    OSC_SIDE_OPERATORS,
    OSC_SIDE_KERNELS,
    OSC_SIDE_CALLS,
    OSC_SIDE_TREE,
    OSC_SIDE_RANGES, /* the table ranges itself */
    OSC_SIDES
};

/* The definitions, by enum osc_side. */
extern const struct osc_table_def *const osc_side_defs[OSC_SIDES];

/* Columns of about. */
enum { OSC_ABOUT_KEY, OSC_ABOUT_VALUE, OSC_ABOUT_COUNT };

/* Columns of steps. A row without a step is a trace without steps. */
enum {
    OSC_STEPS_SPAN,
    OSC_STEPS_STEP,
    OSC_STEPS_PARTS, /* processes that have it */
    OSC_STEPS_RANGE, /* length of its annotation; the next is what was measured */
    OSC_STEPS_TOTAL,
    OSC_STEPS_COST, /* the first of OSC_COST_COUNT */
};

/* Columns of operators and kernels. Rows without a step are of work outside of steps. */
enum {
    OSC_WORK_NAME,
    OSC_WORK_SHAPE,
    OSC_WORK_SPAN,
    OSC_WORK_STEP,
    OSC_WORK_CALLS,
    OSC_WORK_TIME, /* the first of OSC_WORK_TIMES; behind them for each of the first
                      OSC_LOG_TIMES the sum of logarithms, and of their squares */
};
enum {
    OSC_TIME_DEVICE_SELF,
    OSC_TIME_HOST_SELF,
    OSC_TIME_DEVICE_TOTAL,
    OSC_TIME_HOST_TOTAL,
    OSC_WORK_TIMES,
    OSC_LOG_TIMES = OSC_TIME_DEVICE_TOTAL
};
#define OSC_WORK_LOG(time)    (OSC_WORK_TIME + OSC_WORK_TIMES + 2 * (time))
#define OSC_WORK_SQUARE(time) (OSC_WORK_LOG(time) + 1)

/* Columns of calls. The caller is missing for operators that no operator calls. */
enum {
    OSC_CALLS_CALLER,
    OSC_CALLS_NAME,
    OSC_CALLS_CALLS,
    OSC_CALLS_HOST,
    OSC_CALLS_IS_KERNEL,
};
