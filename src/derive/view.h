/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view.h - a trace of some rows of another.
 *
 * A view is a trace of its own: tables and facts are made of it as of any other, and no
 * table has to know about selections. Its base stays as it is and may have any number
 * of views.
 *
 *   shared with the base   strings, forms, values of arguments, texts of metadata
 *   owned by the view      copies of the rows that are wanted, counts of tracks, steps
 *                          with the ordinals of the base, findings, facts
 *
 * A chunk of the base without a wanted row costs a look at its bounds. Rows are numbered
 * anew from 0, in the order of the base.
 *
 * Rows are paid for by the account of the base, what is needed to find them by the account
 * that the caller has entered: if that is cancelled, the work ends soon.
 *
 * Threading: osc_view_make() holds the base as a reader does; any number at the same time.
 * The base may get more facts while views of it are used.
 */
#pragma once

#include "base/status.h"
#include "derive/select.h"
#include "model/trace.h"

/*
 * Make *VIEW of the rows of BASE that S selects, on at most N_THREADS threads. BASE, which
 * has OSC_FACT_VIEWS, is borrowed until osc_trace_fini(VIEW). Wrong values of S:
 * OSC_EINVAL with a sentence; OSC_ECANCELED. On failure VIEW is empty.
 */
OSC_MUST_USE osc_status osc_view_make(struct osc_trace *view, const struct osc_trace *base,
                                      const struct osc_selection *s, unsigned n_threads,
                                      struct osc_err *err);
