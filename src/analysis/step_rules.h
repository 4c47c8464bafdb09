/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_rules.h - the rules of steps that the options of a table want.
 *
 * Threading: a pure function.
 */
#pragma once

#include <string.h>

#include "analysis/shared_options.h"
#include "derive/breakdown.h"

/* The result borrows the priority of O. */
static inline struct osc_step_rules osc_step_rules_of(const struct osc_options *o)
{
    const char *const length = osc_option_text(o, &osc_option_step_length);

    return (struct osc_step_rules){
        .compat_tb = osc_is_compat_tb(o),
        .is_annotation = length && strcmp(length, "annotation") == 0,
        .keeps_all = osc_option_is_set(o, &osc_option_all_steps),
        .priority = osc_option_text(o, &osc_option_priority),
    };
}
