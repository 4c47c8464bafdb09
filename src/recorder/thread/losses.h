/* SPDX-License-Identifier: Apache-2.0 */
/*
 * losses.h - how many records were lost, by cause.
 *
 * A thread with an entry in the live directory counts what it loses there. Counted here is
 * what was lost by threads without an entry and outside of recordings, and what was in
 * entries that are used for other threads by now.
 *
 * Threading: any thread and handler; where said, one thread at a time.
 */
#pragma once

#include "wire/live.h"

/* N records were lost by a thread without an entry, or outside of recordings. */
void osc_losses_add(enum osc_loss cause, uint64_t n);

/* Add what ENTRY counted, whose thread or recording is over. One thread at a time for an
 * entry. */
void osc_losses_keep(const struct osc_live_thread *entry);

/* All that was lost since osc_losses_reset(), with what the open recording's entries count. */
void osc_losses_sum(uint64_t lost[OSC_LOSS_COUNT]);

/* Write what threads without an entry lost to H, for readers of the live directory. */
void osc_losses_store(struct osc_live_header *h);

/* Nothing is lost yet: what is recorded from now on belongs to a new recording. One thread
 * at a time. */
void osc_losses_reset(void);
