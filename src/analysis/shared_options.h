/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shared_options.h - what several tables declare: options (table/own_options.h), words.
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

/* torch's words for sorting (torch/sort_words.c): those of tables of what was called, of tables
 * where all time is that of devices, and of tables that have only names of torch's. */
extern const struct osc_sort_words osc_torch_words, osc_torch_words_of_device_work,
    osc_torch_words_of_names;

/* Whether the rules of the TensorBoard plugin are asked for. */
static inline bool osc_is_compat_tb(const struct osc_options *o)
{
    return osc_option_is_set(o, &osc_option_compat);
}
