/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idle_gaps.h - what a cause of idle time lies before, and within.
 *
 * A gap is named by what ends it: the operator that launched the next work, or that work.
 *
 * Threading: not locked.
 */
#pragma once

#include "analysis/advice/advice_list.h"
#include "analysis/advice/idle.h"

/* What has less than 1 / OSC_IDLE_WORTH of a cause is not worth a word. */
#define OSC_IDLE_WORTH 10

/* One cause of a split. */
struct osc_idle_view {
    const struct osc_advice_base *a;
    const struct osc_idle_split *s;
    struct osc_ruler ruler; /* of the time of the cause */
};

/* Count the gaps that have any of CAUSE, and name before what most of it lies. */
OSC_MUST_USE osc_status osc_idle_name_gaps(const struct osc_idle_view *v, enum osc_idle cause,
                                           struct osc_advice_item *item);

/* The same with the range in which that was launched, the median kernel and the median
 * launch. */
OSC_MUST_USE osc_status osc_idle_name_launches(const struct osc_idle_view *v,
                                               enum osc_idle cause,
                                               struct osc_advice_item *item);

/* The same as the first with the range that the program marked and that has most of it, and how
 * much is in any. */
OSC_MUST_USE osc_status osc_idle_name_unrecorded(const struct osc_idle_view *v,
                                                 enum osc_idle cause,
                                                 struct osc_advice_item *item);
