/* SPDX-License-Identifier: Apache-2.0 */
/*
 * records_args.h - arguments of recordings.
 *
 * Threading: not locked.
 */
#pragma once

#include "import/build/arguments.h"
#include "wire/pack.h"

struct osc_records_names;
struct osc_records_stacks;

/* Whether TEXT is a list or an object in JSON. */
bool osc_records_is_nested(struct osc_str text);

/* Append the argument of the record P, unless arguments are not wanted. P is of any ARG kind
 * but ARG_STACK; the second function is for ARG_STACK and appends `Call stack`. */
void osc_records_args_read(struct osc_builder *b, struct osc_records_names *names,
                           struct osc_arguments *a, const struct osc_packed *p);
void osc_records_args_stack(struct osc_builder *b, struct osc_records_stacks *stacks,
                            struct osc_arguments *a, const struct osc_packed *p);
