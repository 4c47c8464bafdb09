/* SPDX-License-Identifier: Apache-2.0 */
/*
 * members.h - what a trace says of its devices and times, as members beside its events.
 *
 * `info` shows members and exports write them, whatever the format was; the vocabulary is that
 * of Kineto, whose files have `deviceProperties` and `baseTimeNanoseconds`.
 *
 * Threading: not locked.
 */
#pragma once

#include <stddef.h>

#include "model/trace.h"

/* A number in `deviceProperties`, and where it is in struct osc_device_limits, as int64_t;
 * negative: unknown. */
struct osc_member_limit {
    const char *key; /* NULL: the end of the list */
    size_t offset;
};

extern const struct osc_member_limit osc_member_limits[];

/* Make the members of T from its devices and the base of its times. On failure T has some of
 * them, and is whole. */
OSC_MUST_USE osc_status osc_members_add(struct osc_trace *t);
