/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fold_losses.h - what the parts of a recording have told of records that were lost.
 *
 * Counts begin at 0 behind the end of a window or dump, and those of a live directory are of
 * the whole recording: a part that is made of it tells what is left when what such ends
 * told is taken off. A part that the next one goes on from tells nothing that it does not.
 * What parts told that are there no more is left as well, so that nothing lost is forgotten.
 *
 * Threading: not locked.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "wire/chunk.h"
#include "wire/record.h"

/* Zeroed, nothing was told. */
struct osc_fold_losses {
    struct osc_wire_thread *threads; /* owned; by ordinal, each once */
    size_t n, cap;
    uint64_t lost[OSC_LOSS_COUNT]; /* that no thread counts */
};

/* Add what the part at PATH says, unless the next one goes on from it; of what is damaged,
 * nothing. OSC_ENOMEM. */
OSC_MUST_USE osc_status osc_fold_losses_add(struct osc_fold_losses *l, const char *path);

/* Take what L says off LOST, by cause: of the thread ORDINAL, or, if 0, of no thread. */
void osc_fold_losses_subtract(const struct osc_fold_losses *l, uint64_t ordinal,
                              uint64_t lost[OSC_LOSS_COUNT]);

void osc_fold_losses_fini(struct osc_fold_losses *l);
