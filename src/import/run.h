/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.h - several files, one run: who each is, and one origin for all.
 *
 *   rank    from the file's metadata, else from its name, else 0
 *   span    WORKER.NUMBER files: the numbers of a worker in order, from 1; other
 *           files of one rank are windows in order of the operands
 *   origin  the smallest start of all, by wall clock (ts + baseTimeNanoseconds; those of
 *           one boot by its own clock, where files say which boot it was);
 *           files whose times are no wall clock have an origin among themselves
 *
 * The same is found out from identities alone, when the traces are gone: osc_run_place().
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
void osc_run_sort(struct osc_trace **traces, uint32_t n);
