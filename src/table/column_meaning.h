/* SPDX-License-Identifier: Apache-2.0 */
/*
 * column_meaning.h - the column that a user means who knows its meaning and not its name.
 *
 * nearest.h looks at letters: it takes `time` for `name`. Here `time` is the time by which a
 * table is sorted, `count` its calls, and `self_gpu_time` device_self_ns.
 *
 * Threading: pure functions.
 */
#pragma once

#include "table/table.h"

/* The name of the column of DEF that WORD means, or NULL: it is none of the known words.
 * Columns that are hidden or optional are not meant. */
const char *osc_column_meant(const struct osc_table_def *def, const char *word);
