/* SPDX-License-Identifier: Apache-2.0 */
/*
 * set.h - traces that were opened together (opscope/trace.h), as the commands see them.
 *
 * Of the traces that a set has views are made as they are asked for; the last one is kept, with
 * its facts, for questions about the same. A set that was opened for one view may lack traces
 * or most of a long one: then the files are read again for another view, so it keeps copies
 * of what it was opened with. A set that is refreshed gets another state; questions go on with
 * the state that they began with.
 *
 * Threading: thread-safe.
 */
#pragma once

#include "ask/asked.h"

/* Load what O says into a new set, which the caller releases. */
OSC_MUST_USE osc_status osc_set_load(struct osc_set **set, const struct osc_load *o,
                                     struct osc_err *err);

/*
 * The same, so that the set can be asked the N questions at ASKED, which have the view of O, by
 * osc_set_run(): each of several files is read, asked all of them and freed, if that is
 * possible (ask/by_rank.h); then the set has no traces. The questions stay where they are
 * until they have been run.
 */
OSC_MUST_USE osc_status osc_set_load_to_ask(struct osc_set **set, const struct osc_load *o,
                                            struct osc_asked *const *asked, size_t n,
                                            struct osc_err *err);

/* What SET holds, and what is chosen of it by the view that it was opened with; borrowed. */
const struct osc_loaded *osc_set_loaded(const struct osc_set *set);
const struct osc_chosen *osc_set_chosen(const struct osc_set *set);

/* Ask SET about the view that it was opened with, which K has too: any question, if it has its
 * traces, else one of those that it was loaded for. As osc_asked_run(). */
OSC_MUST_USE osc_status osc_set_run(struct osc_set *set, struct osc_asked *k,
                                    struct osc_err *err);
