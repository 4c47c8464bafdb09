/* SPDX-License-Identifier: Apache-2.0 */
/*
 * set.h - traces that were opened together (opscope/trace.h), as the commands use them.
 *
 * A set makes a view of its traces when a question needs it. It keeps the last view with its
 * facts for further questions about it. A set that was opened for one view may lack traces, or
 * most of a long one; then the files are read again for another view. For that the set keeps
 * copies of the arguments that it was opened with. A refresh gives the set a new state;
 * questions that have begun go on with the old one.
 *
 * Threading: thread-safe.
 */
#pragma once

#include "ask/asked.h"

/*
 * Load O into a new set, which the caller releases, for N questions at ASKED, which have the
 * view of O and are evaluated by osc_evaluate_opened(). If possible (ask/trace_parts.h), each
 * of several files is read, asked all of them and freed; then the set has no traces. The
 * questions must not move until then.
 */
OSC_MUST_USE osc_status osc_set_load_to_ask(struct osc_set **set, const struct osc_load *o,
                                            struct osc_asked *const *asked, size_t n,
                                            struct osc_err *err);

/* Make *ORIGINS, which the caller frees, of the N traces that SET joined. */
OSC_MUST_USE osc_status osc_set_origins(struct osc_set *set, struct osc_origin_of **origins,
                                        uint32_t *n);

/* The loaded traces of SET, and those chosen by the view that it was opened with; borrowed. */
const struct osc_loaded *osc_set_loaded(const struct osc_set *set);
const struct osc_chosen *osc_set_chosen(const struct osc_set *set);
