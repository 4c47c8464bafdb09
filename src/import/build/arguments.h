/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arguments.h - collects the arguments of one event as slots and words.
 *
 * Threading: not locked.
 */
#pragma once

#include "import/build/builder.h"

void osc_arguments_fini(struct osc_arguments *a);

/* Remove all arguments; the memory is kept. */
static inline void osc_arguments_clear(struct osc_arguments *a)
{
    a->n_slots = a->n_words = 0;
}

/*
 * Each function appends one argument; if memory is exhausted it sets the sticky status of B.
 * BITS are those of a double; one that JSON cannot express becomes a text. An id of more than
 * 63 bits becomes a text of digits. The last function appends the words of a value of any
 * type.
 */
void osc_arguments_int(struct osc_builder *b, struct osc_arguments *a, osc_sid key,
                       int64_t value);
void osc_arguments_double(struct osc_builder *b, struct osc_arguments *a, osc_sid key,
                          uint64_t bits);
void osc_arguments_string(struct osc_builder *b, struct osc_arguments *a, osc_sid key,
                          osc_sid value);
void osc_arguments_id(struct osc_builder *b, struct osc_arguments *a, osc_sid key,
                      uint64_t value);
void osc_arguments_add(struct osc_builder *b, struct osc_arguments *a, osc_sid key,
                       enum osc_arg_type type, uint64_t bits);
