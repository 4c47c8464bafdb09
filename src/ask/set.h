/* SPDX-License-Identifier: Apache-2.0 */
/*
 * set.h - traces that were opened together (opscope/trace.h), as the commands see them.
 *
 * A set keeps copies of what it was opened with: another view of it may have to read the
 * files again.
 *
 * Threading: thread-safe; one question at a time.
 */
#ifndef OSC_ASK_SET_H
#define OSC_ASK_SET_H

#include "ask/asked.h"

/* Load what O says into a new set, which the caller releases. */
OSC_MUST_USE osc_status osc_set_load(struct osc_set **set, const struct osc_load *o,
                                     struct osc_err *err);

/* What SET holds; borrowed. */
struct osc_loaded *osc_set_loaded(struct osc_set *set);

/* Ask SET, which was opened for what the view of K leaves. As osc_asked_run(). */
OSC_MUST_USE osc_status osc_set_run(struct osc_set *set, struct osc_asked *k,
                                    struct osc_err *err);

#endif
