/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_rules.h - the rules of steps that the options of a table want.
 *
 * Threading: a pure function.
 */
#pragma once

#include "derive/breakdown.h"
#include "table/table.h"

/* The result borrows the priority of O. */
static inline struct osc_step_rules osc_step_rules_of(const struct osc_options *o)
{
    return (struct osc_step_rules){
        .compat_tb = o->compat_tb,
        .is_annotation = o->by_annotation,
        .keeps_all = o->all_steps,
        .priority = o->priority,
    };
}
