/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chrome_ids.h - the numbers that Kineto gives to events, for recordings of ours.
 *
 * Readers of its traces tie events together by them: `External id`, `Ev Idx`, the
 * `Python id` of a call and that of the call around it. A recording has no need of any,
 * so they are made of the number of the row while it is written. What a file of another
 * origin has not, it does not get.
 *
 * Threading: callers are made by one thread, then read by any; all else is pure.
 */
#pragma once

#include "model/trace.h"

/* Whether T is a recording of ours. */
bool osc_chrome_is_ours(const struct osc_trace *t);

/* What stands for a value in osc_chrome_op.type, behind those of enum osc_arg_type. */
enum osc_chrome_id {
    OSC_CHROME_ID_INDEX = 64, /* the number of the row, from 0 */
    OSC_CHROME_ID_NUMBER,     /* from 1 */
    OSC_CHROME_ID_CALLER,     /* of the call of Python around it, or null */
};

/* Arguments that a record gets. */
struct osc_chrome_extra {
    const char *text; /* what stands before the value, or all; NULL: no more */
    enum osc_chrome_id id;
    bool is_whole; /* the text is all of it */
};

/* Those of events of FORM in T, or NULL. */
const struct osc_chrome_extra *osc_chrome_extras(const struct osc_trace *t,
                                                 const struct osc_form *form);

/*
 * The calls of Python around those of a trace, for OSC_CHROME_ID_CALLER. They nest, whatever
 * goes on between them: a label that begins in one and ends behind it does not come between.
 * Zeroed, there are none.
 */
struct osc_chrome_callers {
    uint32_t *of_row; /* pages, owned; by number of the row: osc_row, or 0 */
    size_t bytes;
};

/* Those of T, if it is a recording of ours that has calls. fini() in any case. */
OSC_MUST_USE osc_status osc_chrome_callers_make(struct osc_chrome_callers *callers,
                                                const struct osc_trace *t);
void osc_chrome_callers_fini(struct osc_chrome_callers *callers);

/* The ID of row I of C, or 0: null. */
uint64_t osc_chrome_id(const struct osc_trace *t, const struct osc_chrome_callers *callers,
                       const struct osc_chunk *c, uint32_t i, enum osc_chrome_id id);
