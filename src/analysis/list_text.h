/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list_text.h - lists of the file as people see them.
 *
 * Shapes and grids come as JSON text with whatever blanks the writer chose; tables
 * show them as Python prints a list, which is what the peers show and what two
 * equal lists have in common.
 *
 * Threading: not locked.
 */
#pragma once

#include "base/arena.h"
#include "base/idmap.h"
#include "base/intern.h"
#include "base/strbuf.h"
#include "model/trace.h"

/* Append the JSON list LIST with ", " between elements; what is no list gives nothing. */
void osc_list_text(struct osc_str list, struct osc_strbuf *out);

/* Texts of lists, each made once. Zeroed, it is empty. */
struct osc_lists {
    struct osc_idmap ids;    /* osc_sid of the trace -> osc_sid of texts */
    struct osc_intern texts; /* entry i is the text of id i; 0: no list */
    struct osc_arena arena;
    struct osc_strbuf scratch;
};

void osc_lists_fini(struct osc_lists *l);

/* The id of the text of argument KEY of row I of C; 0 if that is no list. */
OSC_MUST_USE osc_status osc_lists_id(struct osc_lists *l, const struct osc_trace *t,
                                     const struct osc_chunk *c, uint32_t i,
                                     enum osc_arg_key key, osc_sid *id);
