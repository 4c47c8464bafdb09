/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copies.h - the ranges that a program marked, once more on the queues of devices.
 *
 * An annotation, a step, a scope of an optimizer or of a loader of data is drawn on each queue
 * over the kernels, copies and memsets that were launched in it: from the start of the first to
 * the end of the last. Work belongs to the range that began last among those that are open on
 * the launching thread, to no other, as in Kineto's traces (gpu_user_annotation), in which the
 * copies are 1 ns longer at both ends.
 *
 * Threading: not locked.
 */
#pragma once

#include "import/records/records_state.h"

/* The name of a step until one knows that it counts. */
#define OSC_COPIES_UNNAMED UINT32_MAX

void osc_copies_fini(struct osc_records_copies *c);

/* osc_records_open.nearest of a scope of KIND, a number in a recording, that opens in T. */
static inline uint32_t osc_copies_nearest(const struct osc_records_thread *t, uint32_t kind)
{
    if (kind == OSC_SCOPE_ANNOTATION || kind == OSC_SCOPE_OPTIMIZER ||
        kind == OSC_SCOPE_DATALOADER)
        return t->depth + 1;
    return t->depth > 0 ? t->open[t->depth - 1].nearest : 0;
}

/* The number of the range of T that work belongs to which is launched now; 0: it is in none. */
uint32_t osc_copies_range(struct osc_records_rows *rows, struct osc_records_thread *t);

/* The number of STEP, its index + 1 in osc_deferred.items before these were sorted; 0: no work
 * was launched in it. */
uint32_t osc_copies_step(const struct osc_records_rows *rows, uint64_t step);

/* Add to ARGS, of the row of RANGE, a number, or of a copy, what connects them: `External id`,
 * as in Kineto's traces. */
void osc_copies_tell(struct osc_records_rows *rows, struct osc_arguments *args, uint32_t range);

/* Work that was launched in RANGE, a number or 0, ran on QUEUE, its number, from START_NS to
 * END_NS. Work comes in order of its starts. */
void osc_copies_add(struct osc_records_rows *rows, uint32_t range, uint32_t queue,
                    int64_t start_ns, int64_t end_ns);
