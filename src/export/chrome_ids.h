/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chrome_ids.h - the numbers that Kineto gives to events, for recordings of ours.
 *
 * Readers of its traces tie events together by them: `External id`, `Ev Idx`, the
 * `Python id` of a call and that of the call around it. A recording has no need of any,
 * so they are made of the number of the row while it is written. What a file of another
 * origin has not, it does not get.
 *
 * Threading: pure.
 */
#ifndef OSC_EXPORT_CHROME_IDS_H
#define OSC_EXPORT_CHROME_IDS_H

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

/* Whether OSC_CHROME_ID_CALLER comes in T, for which the forest has to be there. */
bool osc_chrome_ids_have_callers(const struct osc_trace *t);

/* The ID of row I of C, or 0: null. */
uint64_t osc_chrome_id(const struct osc_trace *t, const struct osc_chunk *c, uint32_t i,
                       enum osc_chrome_id id);

#endif
