/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/screen/screen_ranges.h"

#include <assert.h>

#include "analysis/range_place.h"
#include "analysis/table_columns.h"
#include "model/kind.h"

#define REPEATED        10 /* calls of which a histogram tells something */
#define NAME_IN_COMMAND 40 /* bytes */

/* What is listed first; from ELSEWHERE on only if there is nothing before it. */
enum rank { ALONE, OPERATOR, ELSEWHERE, ON_DEVICE, N_RANKS };

static enum rank rank_of(const struct osc_result *r, uint64_t i, bool has_iterations)
{
    const enum osc_kind kind =
        osc_kind_of_text(osc_result_get_str(r, i, osc_column_ranges_kind));
    const enum osc_range_place place =
        osc_range_place_of_text(osc_result_get_str(r, i, osc_column_ranges_place));

    if (place == OSC_PLACE_SUMMARY || osc_kind_is_device_work(kind))
        return N_RANKS;
    if (place == OSC_PLACE_DEVICE)
        return ON_DEVICE;
    if (osc_result_get_bool(r, i, osc_column_ranges_is_marked) ||
        (kind == OSC_KIND_STEP && has_iterations))
        return ALONE;
    if (kind == OSC_KIND_OPERATOR)
        return OPERATOR;
    /* A scope that nobody marked is the time in which the profiler was on. */
    return kind == OSC_KIND_STEP || kind == OSC_KIND_PYTHON || kind == OSC_KIND_MODULE ||
                   kind == OSC_KIND_SCOPE
               ? ELSEWHERE
               : ALONE;
}

/* Set ROWS to those of RANK that took longest, at most MAX; return how many. The table is in
 * order of another time. */
static unsigned longest_of(const struct osc_screen *s, enum rank rank, struct osc_top_row *rows,
                           unsigned max)
{
    const struct osc_answer_block *const b =
        &osc_screen_answer(s, OSC_SCREEN_RANGES)->blocks[0];
    const struct osc_result *const r = &b->result;
    const bool has_iterations = osc_screen_has_iterations(s);
    unsigned n = 0;

    for (uint64_t k = 0; k < r->n_rows && max > 0; k++) {
        const uint64_t i = b->order ? b->order[k] : k;
        const struct osc_top_row row = {
            .row = i,
            .name = osc_result_get_str(r, i, osc_column_ranges_name),
            .calls = osc_result_get_int(r, i, osc_column_ranges_calls),
            .ns = osc_result_get_int(r, i, osc_column_ranges_outer_ns)};

        if (rank_of(r, i, has_iterations) == rank)
            n = osc_top_insert(rows, n, max, &row);
    }
    return n;
}

unsigned osc_screen_find_ranges(const struct osc_screen *s, struct osc_top_row *rows,
                                unsigned max, unsigned *n_alone)
{
    struct osc_top_row longest[OSC_TOP_ROWS];
    unsigned n = 0;

    assert(max <= OSC_TOP_ROWS);
    for (enum rank rank = ALONE; rank < N_RANKS && (rank < ELSEWHERE || n == 0); rank++) {
        const unsigned n_longest = longest_of(s, rank, longest, max - n);

        for (unsigned k = 0; k < n_longest; k++)
            n = osc_top_insert(rows, n, max, &longest[k]);
        if (rank == ALONE && n_alone)
            *n_alone = n;
    }
    return n;
}

struct osc_str osc_screen_find_repeated(const struct osc_screen *s)
{
    struct osc_top_row rows[OSC_TOP_ROWS];
    const unsigned n = osc_screen_find_ranges(s, rows, OSC_TOP_ROWS, NULL);

    for (unsigned k = 0; k < n; k++) {
        if (rows[k].calls >= REPEATED && rows[k].name.len > 0 &&
            rows[k].name.len <= NAME_IN_COMMAND)
            return rows[k].name;
    }
    return OSC_STR("");
}
