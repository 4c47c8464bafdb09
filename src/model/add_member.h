/* SPDX-License-Identifier: Apache-2.0 */
/*
 * add_member.h - add a member to what a trace says of itself.
 *
 * `info` shows members, and files that are made of the trace have them.
 *
 * Threading: one thread.
 */
#pragma once

#include "model/trace.h"

/* Add the member KEY with the value TEXT, which is a string or else JSON. Both are copied. On
 * failure T has as many members as before. */
OSC_MUST_USE osc_status osc_add_member(struct osc_trace *t, struct osc_str key,
                                       struct osc_str text, bool is_string);
