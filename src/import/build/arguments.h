/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arguments.h - arguments of one event, gathered one by one, as slots and words.
 *
 * Threading: not locked.
 */
#pragma once

#include "import/build/builder.h"

void osc_arguments_fini(struct osc_arguments *a);

/* Forget all; what is allocated stays. */
static inline void osc_arguments_clear(struct osc_arguments *a)
{
    a->n_slots = a->n_words = 0;
}

/*
 * Each appends one, and leaves a sticky status with B if there is no memory. BITS are those
 * of a double; one that JSON does not have is a text. An id of more than 63 bits is a text
 * of digits. The last one takes the words of a value of any type.
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
