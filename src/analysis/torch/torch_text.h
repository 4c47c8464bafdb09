/* SPDX-License-Identifier: Apache-2.0 */
/*
 * torch_text.h - `averages` exactly as torch's table() prints it.
 *
 * Columns, widths, units, header and footer are those of torch 2.13; with torch_113 the
 * units and the five frames of 1.13. A defect of torch with stacks and FLOPs in one table is
 * kept: the two cells stand under each other's title.
 *
 *   - Presence and width of columns depend on all rows, shown or not.
 *   - Widths count characters. Invalid UTF-8 is U+FFFD and control characters are \xNN,
 *     here as in every text.
 *   - Host times are torch's doubles, summed as torch sums them, so that even the last
 *     digit at a tie is the same.
 *
 * Threading: pure functions.
 */
#pragma once

#include "table/table.h"

/* What torch's table() takes besides a sort key and a limit. */
extern const struct osc_table_option osc_torch_header, osc_torch_top_level,
    osc_torch_max_name_width, osc_torch_max_src_width, osc_torch_max_shapes_width,
    osc_torch_version;

/* Write R, a result of the table `averages`, as text; nothing if it has no rows. */
OSC_MUST_USE osc_status osc_torch_text(const struct osc_result *r,
                                       const struct osc_text_options *o, struct osc_strbuf *out,
                                       struct osc_err *err);
