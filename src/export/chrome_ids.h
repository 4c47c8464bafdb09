/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chrome_ids.h - the ids that Kineto gives to events, for opscope recordings.
 *
 * Readers of Chrome traces connect events by them: `External id` of an operator, which calls of
 * a runtime and the work that they launched repeat, `Ev Idx`, the `Python id` of a call and
 * that of its caller. A recording does not store them: they are computed from row numbers while
 * it is written. Other files get no ids that they did not have.
 *
 * Threading: callers are made by one thread, then read by any; all else is pure.
 */
#pragma once

#include "model/trace.h"

/* Whether T is an opscope recording. */
bool osc_chrome_is_ours(const struct osc_trace *t);

/* Types for osc_chrome_op.type in addition to enum osc_arg_type. */
enum osc_chrome_id {
    OSC_CHROME_ID_INDEX = 64, /* the number of the row, from 0 */
    OSC_CHROME_ID_NUMBER,     /* from 1 */
    OSC_CHROME_ID_CALLER,     /* of the Python call around it, or null */
    OSC_CHROME_ID_OPERATOR,   /* of the operator that launched it, or 0 */
};

/* An argument that is added to a record. */
struct osc_chrome_extra {
    const char *text; /* text before the value, or the whole argument; NULL: end of the list */
    enum osc_chrome_id id;
    bool is_whole; /* text is the whole argument */
};

/*
 * The innermost Python call around each Python call of a trace, for OSC_CHROME_ID_CALLER, and
 * the innermost operator around each call that launches work, also for that work, for
 * OSC_CHROME_ID_OPERATOR. Python calls nest among themselves, as do operators: a label that
 * begins in one and ends after it has no effect. Zeroed, there are none.
 */
struct osc_chrome_callers {
    uint32_t *of_row; /* pages, owned; by number of the row: osc_row, or 0 */
    size_t bytes;
    bool has_launches; /* of operators */
};

/* Find the callers in T if it is an opscope recording with calls. Call
 * osc_chrome_callers_fini() even after a failure. */
OSC_MUST_USE osc_status osc_chrome_callers_make(struct osc_chrome_callers *callers,
                                                const struct osc_trace *t);
void osc_chrome_callers_fini(struct osc_chrome_callers *callers);

/* The added arguments of events of FORM in T, or NULL. With NO_STACKS, Python calls have no
 * number of a thread, as in Kineto's traces without stacks. */
const struct osc_chrome_extra *osc_chrome_extras(const struct osc_trace *t,
                                                 const struct osc_chrome_callers *callers,
                                                 const struct osc_form *form, bool no_stacks);

/* The ID of row I of C, or 0: there is none. */
uint64_t osc_chrome_id(const struct osc_trace *t, const struct osc_chrome_callers *callers,
                       const struct osc_chunk *c, uint32_t i, enum osc_chrome_id id);
