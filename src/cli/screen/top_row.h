/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top_row.h - the rows of a list of the one screen, those with the most time first.
 *
 * Threading: one thread.
 */
#pragma once

#include <stdint.h>

#include "base/str.h"

#define OSC_TOP_ROWS 5 /* of a list, if there is room */

/* One row of a list of the screen. */
struct osc_top_row {
    uint64_t row;        /* of the table; of several that became one, the first */
    struct osc_str name; /* borrowed from the table or an arena */
    int64_t calls, ns;
    double ratio;   /* share of the recording, of workers alone */
    bool is_device; /* of workers alone */
};

/* Insert ROW into N of at most MAX ROWS, behind those with as much time. Returns how many
 * there are. */
unsigned osc_top_insert(struct osc_top_row *rows, unsigned n, unsigned max,
                        const struct osc_top_row *row);
