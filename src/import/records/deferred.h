/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deferred.h - records that become rows only after all records have been read.
 *
 *   memory    the allocated bytes of a device are summed in order of time, over all threads
 *   ranges    an asynchronous range may end on another thread than it began on
 *   work      the clock of a device is fitted over all its readings
 *   copies    a range of a program is drawn over its work (copies.h)
 *   launches  a call is made up for work whose launching call was not recorded; arrows lead
 *             from calls to their work
 *   steps     a step is one row from begin to end, because scopes may cross its limits
 *
 * Threading: not locked.
 */
#pragma once

#include "import/records/records_state.h"

void osc_deferred_fini(struct osc_deferred *l);

/* Add ITEM with N WORDS. Returns its index + 1; 0: see the builder's status. */
size_t osc_deferred_add(struct osc_records_rows *rows, const struct osc_records_item *item,
                        const uint64_t *words, size_t n);

/* Work with this CORRELATION was launched from LAUNCH; of several launches the first counts. */
void osc_deferred_launch(struct osc_records_rows *rows, uint64_t correlation,
                         struct osc_records_launch launch);

/* Give the arguments A to ITEM, an index. */
void osc_deferred_args(struct osc_records_rows *rows, size_t item,
                       const struct osc_arguments *a);

/* The device or queue NUMBER, created if it is new; NULL: see the builder's status. */
struct osc_records_device *osc_records_device(struct osc_records_rows *rows, uint32_t number);
struct osc_records_queue *osc_records_queue(struct osc_records_rows *rows, uint32_t number);

/* Make rows of all items and add the devices to the trace. */
void osc_deferred_build(struct osc_records_rows *rows);
