/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view.h - a trace made of some rows of another trace.
 *
 * A view is a complete trace: tables and facts are made from it as from any other, and no
 * table has to know about selections. Its base does not change and may have any number of
 * views.
 *
 *   shared with the base   strings, forms, values of arguments, texts of metadata
 *   owned by the view      copies of the selected rows, counts of tracks, steps with the
 *                          ordinals of the base, findings, facts
 *
 * For a chunk of the base without a selected row only its bounds are read. Rows are renumbered
 * from 0, in the order of the base.
 *
 * Rows are charged to the account of the base, scratch memory to the account that the caller
 * has entered: if that one is cancelled, the work ends soon.
 *
 * Threading: osc_view_make() holds the base's lock as a reader; any number may run at the same
 * time. The base may get more facts while views of it are used.
 */
#pragma once

#include "base/status.h"
#include "derive/select.h"
#include "model/trace.h"

/*
 * Make *VIEW from the rows of BASE that S selects, on at most N_THREADS threads. BASE, which
 * has OSC_FACT_VIEWS, is borrowed until osc_trace_fini(VIEW). OSC_EINVAL: a wrong value in S,
 * with a sentence. OSC_ECANCELED: the caller's account was cancelled. On failure VIEW is
 * empty.
 */
OSC_MUST_USE osc_status osc_view_make(struct osc_trace *view, const struct osc_trace *base,
                                      const struct osc_selection *s, unsigned n_threads,
                                      struct osc_err *err);
