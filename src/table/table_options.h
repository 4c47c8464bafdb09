/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table_options.h - the options and groupings that a definition declares, by their words.
 *
 * Threading: pure functions.
 */
#pragma once

#include "table/table.h"

/* The option NAME of DEF, or NULL. */
const struct osc_table_option *osc_table_option(const struct osc_table_def *def,
                                                const char *name);

/* Set in O the option of V. Nothing happens if DEF has none of its name, or O no room. */
void osc_options_set(struct osc_options *o, const struct osc_table_def *def,
                     const struct osc_option_value *v);

/* Group by GROUP_BY (borrowed; NULL: do not), words of DEF with commas between, and last of all
 * a pattern (row_groups.h). OSC_EINVAL: it
 * has no such grouping; the message suggests a similar one. */
OSC_MUST_USE osc_status osc_options_group(struct osc_options *o,
                                          const struct osc_table_def *def, const char *group_by,
                                          struct osc_err *err);
