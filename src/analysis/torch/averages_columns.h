/* SPDX-License-Identifier: Apache-2.0 */
/*
 * averages_columns.h - the columns of the table `averages`, in their order.
 *
 * Threading: constants.
 */
#pragma once

/* Columns, hidden ones last. Columns without data in a trace are not shown. */
enum osc_averages_column {
    OSC_AVERAGES_NAME,
    OSC_AVERAGES_CALLS,
    OSC_AVERAGES_SELF_CPU_NS,
    OSC_AVERAGES_CPU_NS,
    OSC_AVERAGES_SELF_DEVICE_NS,
    OSC_AVERAGES_DEVICE_NS,
    OSC_AVERAGES_SELF_CPU_BYTES,
    OSC_AVERAGES_CPU_BYTES,
    OSC_AVERAGES_SELF_DEVICE_BYTES,
    OSC_AVERAGES_DEVICE_BYTES,
    OSC_AVERAGES_FLOPS,
    OSC_AVERAGES_INPUT_SHAPES,
    OSC_AVERAGES_INPUT_DTYPES,
    OSC_AVERAGES_STACK,
    OSC_AVERAGES_OVERLOAD_NAME,
    OSC_AVERAGES_IS_ASYNC,
    OSC_AVERAGES_IS_USER_ANNOTATION,
    OSC_AVERAGES_DEVICE_TYPE,
    OSC_AVERAGES_SELF_CPU_US, /* doubles as in torch, for the last printed digit */
    OSC_AVERAGES_CPU_US,
    OSC_AVERAGES_IS_TOP_LEVEL,
    OSC_AVERAGES_DEVICE, /* the word for devices in titles, such as "cuda" */
    OSC_AVERAGES_COLUMNS
};
