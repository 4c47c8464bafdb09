/* SPDX-License-Identifier: Apache-2.0 */
/*
 * said_member.h - add a member to what a trace says of itself, for files that are made of it.
 *
 * Threading: one thread.
 */
#pragma once

#include "model/trace.h"

/* Add the member KEY with the value TEXT, which is a string or else JSON. Both are copied. */
OSC_MUST_USE osc_status osc_said_member_add(struct osc_trace *t, struct osc_str key,
                                            struct osc_str text, bool is_string);
