/* SPDX-License-Identifier: Apache-2.0 */
#include "render/fit.h"

/* The width of a line whose columns are as narrow as LEVEL allows. */
static size_t least_width(const struct osc_fit_column *columns, uint32_t n,
                          enum osc_fit_level level)
{
    size_t total = 0;

    for (uint32_t c = 0; c < n; c++) {
        if (!columns[c].is_out)
            total += (total > 0 ? OSC_FIT_GAP : 0) + columns[c].least[level];
    }
    return total;
}

static size_t line_width(const struct osc_fit_column *columns, uint32_t n)
{
    size_t total = 0;

    for (uint32_t c = 0; c < n; c++) {
        if (!columns[c].is_out)
            total += (total > 0 ? OSC_FIT_GAP : 0) + columns[c].width;
    }
    return total;
}

/* Leave out the least important column below IMPORTANCE, unless only one is left. */
static bool leave_out(struct osc_fit_column *columns, uint32_t n, unsigned importance)
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
    if (n_shown < 2 || least->importance >= importance)
        return false;
    least->is_out = true;
    return true;
}

/* Leave out columns until the others fit into WIDTH; returns how narrow they are then. */
static enum osc_fit_level choose(struct osc_fit_column *columns, uint32_t n, size_t width)
{
    static const unsigned limits[] = {OSC_FIT_IMPORTANT, OSC_FIT_VITAL, OSC_FIT_VITAL,
                                      UINT32_MAX};
    enum osc_fit_level level = OSC_FIT_EASY;

    while (least_width(columns, n, level) > width) {
        if (leave_out(columns, n, limits[level]))
            continue;
        if (level == OSC_FIT_UTMOST)
            break;
        level++;
    }
    return level;
}

/* Narrow the widest column that can be narrowed at LEVEL, down to the second widest or by
 * EXCESS. Returns by how much, which is 0 if there is none. */
static size_t narrow(struct osc_fit_column *columns, uint32_t n, enum osc_fit_level level,
                     size_t excess)
{
    struct osc_fit_column *widest = NULL;
    size_t next = 0;

    for (uint32_t c = 0; c < n; c++) {
        struct osc_fit_column *const column = &columns[c];

        if (column->is_out || column->width <= column->least[level])
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
    const size_t least = widest->least[level], floor = next > least ? next : least;
    size_t cut =
        widest->width > floor ? widest->width - floor : 1; /* two equal ones: alternate */
    cut = cut < excess ? cut : excess;
    widest->width -= cut;
    return cut;
}

void osc_fit(struct osc_fit_column *columns, uint32_t n, size_t width)
{
    const enum osc_fit_level level = choose(columns, n, width);
    size_t total = line_width(columns, n), cut;

    for (unsigned at = OSC_FIT_EASY; at <= level; at++) {
        while (total > width &&
               (cut = narrow(columns, n, (enum osc_fit_level)at, total - width)) > 0)
            total -= cut;
    }
    for (uint32_t c = 0; c < n && total > width; c++) { /* only one is left */
        if (!columns[c].is_out)
            columns[c].width = width;
    }
}
