/* SPDX-License-Identifier: Apache-2.0 */
/*
 * records_rows.h - make rows of the records of a recording.
 *
 *   scopes          The begin becomes a row, which gets its duration from the end. An end for
 *                   which arguments wait, or whose begin is unknown, becomes a row of its own;
 *                   sealing pairs it like any other.
 *   args            They belong to the record before them, if it can have any. Otherwise they
 *                   belong to the innermost scope: they wait for its end and are put on that.
 *   Python          Functions on a thread that PyTorch has numbered get their callers as
 *                   `Call stack` (records_callers.h).
 *   launches        If a scope that is not a call of a runtime or driver launches work, such a
 *                   call is made up, so that the work is linked to the scope.
 *   deferred        Memory, asynchronous ranges, steps and work of devices need records of
 *                   other threads; they are put in order of time at the end (deferred.h).
 *
 * Records come segment by segment in order of the file. Within a thread that is the order of
 * its calls.
 *
 * Threading: not locked.
 */
#pragma once

#include "import/records/records_state.h"

OSC_MUST_USE osc_status osc_records_rows_init(struct osc_records_rows *rows,
                                              struct osc_builder *b,
                                              struct osc_records_clock *clock,
                                              struct osc_records_names *names, osc_who pid);
void osc_records_rows_fini(struct osc_records_rows *rows);

/*
 * Add the thread ORDINAL. If several threads have the same TID, the second one is named TID.2
 * and so on. TID 0: unknown. Threads are added in order of their ordinals.
 */
OSC_MUST_USE osc_status osc_records_rows_thread(struct osc_records_rows *rows, uint64_t ordinal,
                                                uint32_t tid);

/* Read the packed records of S at BYTES. False: they are malformed from some record on. A lack
 * of memory is in the status of the builder. */
bool osc_records_rows_read(struct osc_records_rows *rows, const struct osc_pack_segment *s,
                           const unsigned char *bytes);

/* Records are missing here: scopes that are open now stay open, because their ends may be
 * among the missing records. */
void osc_records_rows_break(struct osc_records_rows *rows);

/* After the last record, make rows of the deferred ones. */
void osc_records_rows_finish(struct osc_records_rows *rows);
