/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.h - make one run of several files: rank and span of each, and one origin for all.
 *
 *   rank    from the file's metadata, else from its name, else that of the nearest recorded
 *           ancestor of its process, else 0
 *   span    spans.h
 *   origin  the earliest start of all files, by wall clock (ts + baseTimeNanoseconds; files
 *           that name the same boot are compared by the clock of that boot); files whose
 *           times are not wall clock times have an origin among themselves
 *
 * osc_run_place() needs only identities, so the traces may be freed before.
 *
 * Threading: not locked; one writer of the traces.
 */
#pragma once

#include "base/status.h"
#include "model/identity.h"
#include "model/trace.h"

/*
 * Fill ID with the identity of T, read from PATH. Strings of T and PATH are borrowed.
 * ID->alone is what T alone implies, independent of any earlier placing.
 */
void osc_run_identity(struct osc_identity *id, const struct osc_trace *t, const char *path);

/* Place the N files at IDS together; they are in the order of the operands. */
OSC_MUST_USE osc_status osc_run_place(struct osc_identity *const *ids, uint32_t n);

/*
 * Apply ID->among to T, which has not been placed yet. A file from another host than the first
 * one counts as `unaligned`.
 */
OSC_MUST_USE osc_status osc_run_apply(struct osc_trace *t, const struct osc_identity *id);

/* Sort for users: by rank, then span, then in the given order. */
OSC_MUST_USE osc_status osc_run_sort(struct osc_trace **traces, uint32_t n);
