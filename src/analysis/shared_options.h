/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shared_options.h - options that several tables declare (table/own_options.h).
 *
 * Threading: constants and pure functions.
 */
#pragma once

#include "table/table.h"

extern const struct osc_table_option osc_option_compat;      /* tb */
extern const struct osc_table_option osc_option_at;          /* a moment from the origin */
extern const struct osc_table_option osc_option_name;        /* of ranges */
extern const struct osc_table_option osc_option_priority;    /* of the classes of steps */
extern const struct osc_table_option osc_option_step_length; /* what a step is */
extern const struct osc_table_option osc_option_all_steps;

/* Whether the rules of the TensorBoard plugin are asked for. */
static inline bool osc_is_compat_tb(const struct osc_options *o)
{
    return osc_option_is_set(o, &osc_option_compat);
}
