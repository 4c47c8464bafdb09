/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loss_watch.h - tell the program, by its own function, that records are lost.
 *
 * Threads that lose records only count them. The flusher compares the counts, and calls the
 * function if they have grown: at most once a second, and a last time when the recording ends,
 * if anything was lost at all.
 *
 * Threading: one thread, the flusher.
 */
#pragma once

#include <stdint.h>

#include "opscope/record.h"

/* Zeroed but for lost and ctx, it is as at the start of a recording. */
struct osc_loss_watch {
    void (*lost)(void *ctx, const struct osc_losses *losses); /* NULL: nobody is told */
    void *ctx;
    uint64_t n_told; /* losses of all causes at the last call */
    int64_t told_ns; /* when that was */
};

/* Call the function, if it is due at NOW_NS. */
void osc_loss_watch_look(struct osc_loss_watch *w, int64_t now_ns);

/* The recording ends: call it a last time, if anything was lost. */
void osc_loss_watch_end(struct osc_loss_watch *w);
