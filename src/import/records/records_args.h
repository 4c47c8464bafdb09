/* SPDX-License-Identifier: Apache-2.0 */
/*
 * records_args.h - arguments of recordings as slots and words of the model.
 *
 * Threading: not locked.
 */
#ifndef OSC_IMPORT_RECORDS_RECORDS_ARGS_H
#define OSC_IMPORT_RECORDS_RECORDS_ARGS_H

#include "import/build/builder.h"
#include "wire/pack.h"

struct osc_records_names;
struct osc_records_stacks;

/* Arguments on their way to a row. Zeroed, there are none. */
struct osc_records_args {
    struct osc_slot *slots; /* owned */
    uint32_t *words;        /* owned */
    size_t n_slots, cap_slots, n_words, cap_words;
};

void osc_records_args_fini(struct osc_records_args *a);

/*
 * Each appends one, and leaves a sticky status with B if there is no memory. BITS are those
 * of a double; one that JSON does not have is a text. An id of more than 63 bits is a text
 * of digits.
 */
void osc_records_args_int(struct osc_builder *b, struct osc_records_args *a, osc_sid key,
                          int64_t value);
void osc_records_args_double(struct osc_builder *b, struct osc_records_args *a, osc_sid key,
                             uint64_t bits);
void osc_records_args_string(struct osc_builder *b, struct osc_records_args *a, osc_sid key,
                             osc_sid value);
void osc_records_args_id(struct osc_builder *b, struct osc_records_args *a, osc_sid key,
                         uint64_t value);

/* Whether TEXT is a list or an object in JSON. */
bool osc_records_is_nested(struct osc_str text);

/* Append what the record P of an ARG kind other than ARG_STACK says, unless arguments are
 * not wanted; and the same for ARG_STACK, as `Call stack`. */
void osc_records_args_take(struct osc_builder *b, struct osc_records_names *names,
                           struct osc_records_args *a, const struct osc_packed *p);
void osc_records_args_stack(struct osc_builder *b, struct osc_records_stacks *stacks,
                            struct osc_records_args *a, const struct osc_packed *p);

#endif
