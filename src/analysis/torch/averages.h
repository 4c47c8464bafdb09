/* SPDX-License-Identifier: Apache-2.0 */
/*
 * averages.h - the table `averages`: torch's key_averages() from the file alone.
 *
 * What it is made of: averages_tree (torch's list of events), averages_groups (rows
 * of equal key), torch_text (the text of torch's table()).
 *
 * Threading: constants; map and text are as table.h says.
 */
#pragma once

#include "table/table.h"

extern const struct osc_table_def osc_table_averages;
