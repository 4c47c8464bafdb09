/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list_text.h - lists from the file as users see them.
 *
 * Shapes and grids are JSON text with any white space; tables show them as Python prints a
 * list. So equal lists have equal text, and other tools show the same.
 *
 * Threading: not locked.
 */
#pragma once

#include "base/arena.h"
#include "base/idmap.h"
#include "base/intern.h"
#include "base/strbuf.h"
#include "model/trace.h"

/* Append the JSON list LIST with ", " between elements; nothing if it is not a list. */
void osc_list_text(struct osc_str list, struct osc_strbuf *out);

/*
 * Append the elements of the JSON list LIST: texts without quotes, others as Python prints
 * them, with a comma between them, and a blank before each that is not empty, so that no text
 * ends with a blank. False, and nothing, if it is not a list or has none.
 */
bool osc_list_elements(struct osc_str list, struct osc_strbuf *out);

/* Caches texts of lists. Zeroed, it is empty. */
struct osc_lists {
    struct osc_idmap ids;    /* osc_sid of the trace -> osc_sid of texts */
    struct osc_intern texts; /* entry i is the text with id i */
    struct osc_arena arena;
    struct osc_strbuf scratch;
};

void osc_lists_fini(struct osc_lists *l);

/* The id of the text of argument KEY of row I of C; 0 if it is not a list. */
OSC_MUST_USE osc_status osc_lists_id(struct osc_lists *l, const struct osc_trace *t,
                                     const struct osc_chunk *c, uint32_t i,
                                     enum osc_arg_key key, osc_sid *id);

/*
 * Find the text of the elements of that list: its number for osc_lists_elements(), 0 if it has
 * none. L is used for nothing else.
 */
OSC_MUST_USE osc_status osc_lists_elements_id(struct osc_lists *l, const struct osc_trace *t,
                                              const struct osc_chunk *c, uint32_t i,
                                              enum osc_arg_key key, uint32_t *number);

/* The text with NUMBER, which is not 0. */
struct osc_str osc_lists_elements(const struct osc_lists *l, uint32_t number);
