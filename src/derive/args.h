/* SPDX-License-Identifier: Apache-2.0 */
/*
 * args.h - inline access to numbers and ids among the arguments.
 *
 * The links need two ids of every launch and every kernel. Nearly all are stored as integers,
 * for which a call of osc_row_arg_int() would cost more than the load.
 *
 * Threading: pure functions.
 */
#pragma once

#include "model/trace.h"

/* An inline osc_row_arg_int(). */
static inline bool osc_args_int(const struct osc_trace *t, const struct osc_chunk *c,
                                uint32_t i, enum osc_arg_key key, int64_t *value)
{
    const struct osc_form *const form = &t->forms[c->form[i]];
    const int16_t at = form->known[key];

    if (at < 0)
        return false;
    const struct osc_slot *const slot = &form->slots[at];
    if (slot->type == OSC_ARG_INT32) {
        *value = (int32_t)osc_row_words(c, i)[slot->word];
        return true;
    }
    return osc_row_arg_int(t, c, i, key, value);
}

/*
 * An argument that is a count or an amount, from 0 to 2^64. Larger ones are rejected: they
 * have no meaning, and sums over a trace might not be finite. False: there is none.
 */
static inline bool osc_args_quantity(const struct osc_trace *t, const struct osc_chunk *c,
                                     uint32_t i, enum osc_arg_key key, double *value)
{
    return osc_row_arg_double(t, c, i, key, value) && *value >= 0 && *value <= 0x1p64;
}

/* `external id`, else `External id`, else 0. */
static inline int64_t osc_args_external_id(const struct osc_trace *t, const struct osc_chunk *c,
                                           uint32_t i)
{
    int64_t id = 0;

    if (osc_args_int(t, c, i, OSC_ARG_KEY_EXTERNAL_ID_OLD, &id) ||
        osc_args_int(t, c, i, OSC_ARG_KEY_EXTERNAL_ID, &id))
        return id;
    return 0;
}

/* The id of an arrow (s, t, f) as a number; for a text a value that no number has. */
static inline bool osc_args_flow_id(const struct osc_trace *t, const struct osc_chunk *c,
                                    uint32_t i, int64_t *id)
{
    struct osc_arg arg;

    if (osc_args_int(t, c, i, OSC_ARG_KEY_FLOW_ID, id))
        return true;
    if (!osc_row_arg(t, c, i, OSC_ARG_KEY_FLOW_ID, &arg) ||
        (arg.type != OSC_ARG_STRING && arg.type != OSC_ARG_NUMTEXT))
        return false;
    *id = (int64_t)(UINT64_C(1) << 62 | arg.sid.v);
    return true;
}
