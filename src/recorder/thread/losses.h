/* SPDX-License-Identifier: Apache-2.0 */
/*
 * losses.h - how many records were lost, by cause.
 *
 * A thread with an entry in the live directory counts its losses there. This module counts the
 * losses of threads without an entry and outside of recordings, and the losses from entries
 * that have been reused for other threads.
 *
 * Threading: any thread and handler; where noted, one thread at a time.
 */
#pragma once

#include "opscope/record.h"
#include "wire/live.h"

/* Count N records lost by a thread without an entry, or outside of recordings. */
void osc_losses_add(enum osc_loss cause, uint64_t n);

/* Add the losses of ENTRY, whose thread or recording is over. One thread at a time for an
 * entry. */
void osc_losses_keep(const struct osc_live_thread *entry);

/* All losses since osc_losses_reset(), including the entries of the open recording. */
void osc_losses_sum(uint64_t lost[OSC_LOSS_COUNT]);

/* LOST as programs get it. */
struct osc_losses osc_losses_of(const uint64_t lost[OSC_LOSS_COUNT]);

/* Write the losses of threads without an entry to H, for readers of the live directory. */
void osc_losses_store(struct osc_live_header *h);

/* Reset all losses, because a new recording begins. One thread at a time. */
void osc_losses_reset(void);
