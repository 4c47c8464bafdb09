/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copies.h - the ranges that a program marked, once more on the queues of devices.
 *
 * An annotation, or a step, is drawn on each queue over the kernels, copies and memsets that
 * were launched in it: from 1 ns before the first starts to 1 ns after the last ends, so that
 * it is around them. Work belongs to the range that began last among those that are open on the
 * launching thread, to no other. All of this is as in Kineto's traces (gpu_user_annotation).
 *
 * Threading: not locked.
 */
#pragma once

#include "import/records/records_state.h"

void osc_copies_fini(struct osc_records_copies *c);

/* The number of the range of T that work belongs to which is launched now; 0: it is in none. */
uint32_t osc_copies_range(struct osc_records_rows *rows, struct osc_records_thread *t);

/* The row of STEP, its index + 1 in osc_deferred.items before these were sorted, has just been
 * made; its name is NAME. */
void osc_copies_step(struct osc_records_rows *rows, uint64_t step, osc_sid name);

/* Work that was launched in RANGE, a number or 0, ran on TRACK from START_NS to END_NS. Work
 * comes in order of its starts. */
void osc_copies_add(struct osc_records_rows *rows, uint32_t range, osc_track_id track,
                    int64_t start_ns, int64_t end_ns);

/* Make the rows, after those of all work. */
void osc_copies_build(struct osc_records_rows *rows);
