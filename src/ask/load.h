/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load.h - read files into traces from which tables can be made.
 *
 *   operands -> paths (paths.h), parts of a recording together -> import -> rank, span, origin
 *            -> ranks and spans of the view; chosen.h selects rows of each trace
 *
 * If a file that was named cannot be read, loading fails. In a directory unreadable files are
 * skipped, and has_failed is set.
 *
 * Threading: one thread; the importer uses its own inside.
 */
#pragma once

#include "ask/files/loaded.h"

/*
 * Load what O says. If a recording is still running, parts of it end, begin and, with a limit,
 * are deleted; then its directory is listed and read again, a few times at most. The caller
 * frees L in any case.
 */
OSC_MUST_USE osc_status osc_load(struct osc_loaded *l, const struct osc_load *o,
                                 struct osc_err *err);

/* Set *IS_SO to whether loading O now would give L again. OSC_ENOMEM. */
OSC_MUST_USE osc_status osc_loaded_is_current(const struct osc_loaded *l,
                                              const struct osc_load *o, bool *is_so);

/* Set KEEP, one for each of the N TRACES: whether VIEW's ranks and spans name it.
 * OSC_ENOTFOUND: they name none; ERR lists the ranks and spans that exist. */
OSC_MUST_USE osc_status osc_loaded_ranks(bool *keep, struct osc_trace *const *traces,
                                         uint32_t n, const struct osc_view *view,
                                         struct osc_err *err);

/* The least and the greatest rank and span of some traces. Zeroed, there are no traces. */
struct osc_rank_span {
    int32_t least_rank, most_rank, least_span, most_span;
    uint32_t n;
};

void osc_rank_span_add(struct osc_rank_span *r, int32_t rank, int32_t span);

/* Fail with OSC_ENOTFOUND because none of R was asked for; ERR lists what exists. */
osc_status osc_rank_span_fail(const struct osc_rank_span *r, struct osc_err *err);
