/* SPDX-License-Identifier: Apache-2.0 */
/*
 * records_rows.h - records of a recording become rows.
 *
 *   scopes          the begin as a row, which gets its duration with the end; an end that
 *                   arguments wait for, or whose begin is not known, as one of its own,
 *                   which seal pairs as it does all others
 *   args            of the record before them, if that takes any; else of the scope that
 *                   is innermost then: they wait for its end and stand on that
 *   Python          functions on a thread that PyTorch has numbered have what called them
 *                   as `Call stack` (records_callers.h)
 *   launches        in a scope that is no call of a runtime or driver one is made up, so
 *                   that the work is found to be of that scope
 *   what is late    memory, asynchronous ranges, steps, work of devices: they need what
 *                   other threads recorded, and are put in order of time at the end
 *                   (deferred.h)
 *
 * Records come segment by segment in order of the file; of one thread that is the order
 * of its calls.
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
 * Make thread ORDINAL known; of threads with one TID the second and later ones are
 * TID.2 and so on. TID 0: not known. Threads are made known in order of their ordinals.
 */
OSC_MUST_USE osc_status osc_records_rows_thread(struct osc_records_rows *rows, uint64_t ordinal,
                                                uint32_t tid);

/* Take the packed records of S, which follow it at BYTES. False: they make no sense from
 * some record on. What the builder says of memory is in its status. */
bool osc_records_rows_read(struct osc_records_rows *rows, const struct osc_pack_segment *s,
                           const unsigned char *bytes);

/* Records are missing here: scopes that are open now stay so, since their ends may be. */
void osc_records_rows_break(struct osc_records_rows *rows);

/* No more records come: what was late becomes rows. */
void osc_records_rows_finish(struct osc_records_rows *rows);
