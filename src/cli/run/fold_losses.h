/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fold_losses.h - sum the losses that the parts of a recording report.
 *
 * Counts restart at 0 after the end of a window or dump, but those of a live directory cover
 * the whole recording. So a part that is made of the live directory reports those less the
 * counts of such earlier ends. A part that the next one continues is not counted, because the
 * next one repeats its counts. The counts of deleted parts are not subtracted, so no loss is
 * forgotten.
 *
 * Threading: not locked.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "wire/chunk.h"
#include "wire/record.h"

/* Zeroed, there are no losses. */
struct osc_fold_losses {
    struct osc_wire_thread *threads; /* owned; sorted by ordinal, each once */
    size_t n, cap;
    uint64_t lost[OSC_LOSS_COUNT]; /* those that no thread counts */
    bool is_harmed;       /* somebody removed, moved or cut a part while it was written */
    uint32_t write_error; /* errno of a write that failed; 0: none */
};

/* Add the losses in the part at PATH, unless the next one continues it. Damaged chunks are
 * skipped. OSC_ENOMEM. */
OSC_MUST_USE osc_status osc_fold_losses_add(struct osc_fold_losses *l, const char *path);

/* The same for a part that may lack its end, because it could not be written: what its threads
 * lost as far as it says so. */
OSC_MUST_USE osc_status osc_fold_losses_add_last(struct osc_fold_losses *l, const char *path);

/* Subtract the losses in L from LOST, by cause: those of the thread ORDINAL or, if 0, those of
 * no thread. */
void osc_fold_losses_subtract(const struct osc_fold_losses *l, uint64_t ordinal,
                              uint64_t lost[OSC_LOSS_COUNT]);

void osc_fold_losses_fini(struct osc_fold_losses *l);
