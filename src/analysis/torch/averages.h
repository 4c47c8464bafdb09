/* SPDX-License-Identifier: Apache-2.0 */
/*
 * averages.h - the table `averages`: torch's key_averages() from the file alone.
 *
 * Its parts: averages_tree (torch's list of events), averages_groups (rows of equal keys),
 * torch_text (the text of torch's table()).
 *
 * Threading: constants; map and text as in table.h.
 */
#pragma once

#include "table/table.h"

extern const struct osc_table_def osc_table_averages;
