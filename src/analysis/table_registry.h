/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table_registry.h - all tables, in the order in which users see them listed.
 *
 * A new table is one file that ends in `const struct osc_table_def osc_table_NAME`, and one
 * line here.
 *
 * Threading: constants.
 */
#pragma once

#include "table/table.h"

#define OSC_TABLE_LIST(X) \
    X(info)               \
    X(quality)            \
    X(events)             \
    X(threads)            \
    X(tracks)             \
    X(flows)              \
    X(ranges)             \
    X(durations)          \
    X(siblings)           \
    X(points)             \
    X(averages)           \
    X(operators)          \
    X(kernels)            \
    X(steps)              \
    X(step_explain)       \
    X(overview)           \
    X(headlines)          \
    X(devices)            \
    X(utilization)        \
    X(memory)             \
    X(memory_events)      \
    X(memory_curve)       \
    X(memory_peaks)       \
    X(memory_live)        \
    X(memory_versions)    \
    X(advice)             \
    X(patterns)           \
    X(modules)            \
    X(ranks)              \
    X(rank_stats)         \
    X(rank_overlap)       \
    X(rank_wait)          \
    X(collectives)        \
    X(collective_calls)   \
    X(stragglers)         \
    X(diff_tree)          \
    X(diff_inside)        \
    X(diff_steps)         \
    X(diff_operators)     \
    X(diff_kernels)

#define OSC_TABLE_DECLARE(name) extern const struct osc_table_def osc_table_##name;
OSC_TABLE_LIST(OSC_TABLE_DECLARE)
#undef OSC_TABLE_DECLARE

/* The last one is NULL. */
extern const struct osc_table_def *const osc_tables[];

/* The table NAME, or NULL. */
const struct osc_table_def *osc_table_find(const char *name);
