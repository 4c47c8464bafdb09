/* SPDX-License-Identifier: Apache-2.0 */
#include "render/fit.h"

/* The width of a line, with columns as narrow as they can be if AT_LEAST. */
static size_t line_width(const struct osc_fit_column *columns, uint32_t n, bool at_least)
{
    size_t total = 0;

    for (uint32_t c = 0; c < n; c++) {
        if (!columns[c].is_out)
            total += (total > 0 ? OSC_FIT_GAP : 0) +
                     (at_least ? columns[c].least : columns[c].width);
    }
    return total;
}

/* Leave out the least important column, unless only one is left. */
static bool leave_out(struct osc_fit_column *columns, uint32_t n)
{
    struct osc_fit_column *least = NULL;
    uint32_t n_shown = 0;

    for (uint32_t c = 0; c < n; c++) {
        if (columns[c].is_out)
            continue;
        n_shown++;
        if (!least || columns[c].importance <= least->importance)
            least = &columns[c];
    }
    if (n_shown < 2)
        return false;
    least->is_out = true;
    return true;
}

/* Narrow the widest column that can be narrowed, down to the second widest or by EXCESS.
 * Returns by how much, which is 0 if there is none. */
static size_t narrow(struct osc_fit_column *columns, uint32_t n, size_t excess)
{
    struct osc_fit_column *widest = NULL;
    size_t next = 0;

    for (uint32_t c = 0; c < n; c++) {
        struct osc_fit_column *const column = &columns[c];

        if (column->is_out || column->width <= column->least)
            continue;
        if (!widest || column->width > widest->width) {
            next = widest ? widest->width : 0;
            widest = column;
        } else if (column->width > next) {
            next = column->width;
        }
    }
    if (!widest)
        return 0;
    const size_t floor = next > widest->least ? next : widest->least;
    size_t cut =
        widest->width > floor ? widest->width - floor : 1; /* two equal ones: alternate */
    cut = cut < excess ? cut : excess;
    widest->width -= cut;
    return cut;
}

void osc_fit(struct osc_fit_column *columns, uint32_t n, size_t width)
{
    size_t total, cut;

    while (line_width(columns, n, true) > width && leave_out(columns, n))
        ;
    total = line_width(columns, n, false);
    while (total > width && (cut = narrow(columns, n, total - width)) > 0)
        total -= cut;
    for (uint32_t c = 0; c < n && total > width; c++) { /* only one is left */
        if (!columns[c].is_out)
            columns[c].width = width;
    }
}
