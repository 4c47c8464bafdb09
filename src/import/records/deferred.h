/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deferred.h - records that become rows only once all of them have been read.
 *
 *   memory    the sum of what a device has given out goes by time, over all threads
 *   ranges    asynchronous ones end on other threads than they began on
 *   work      the clock of a device is fitted over all its readings
 *   launches  calls that launched work, where nobody recorded one
 *   steps     one row from begin to end, since scopes may reach across
 *
 * Threading: not locked.
 */
#pragma once

#include "import/records/records_state.h"

void osc_deferred_fini(struct osc_deferred *l);

/* Add ITEM with N WORDS; its place + 1, or 0: see the builder's status. */
size_t osc_deferred_add(struct osc_records_rows *rows, const struct osc_records_item *item,
                        const uint64_t *words, size_t n);

/* ITEM, counted from 0, has the arguments A. */
void osc_deferred_args(struct osc_records_rows *rows, size_t item,
                       const struct osc_arguments *a);

/* The device NUMBER, made if need be; NULL: see the builder's status. */
struct osc_records_device *osc_records_device(struct osc_records_rows *rows, uint32_t number);
struct osc_records_queue *osc_records_queue(struct osc_records_rows *rows, uint32_t number);

/* All items become rows, devices those of the trace. */
void osc_deferred_build(struct osc_records_rows *rows);
