/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampling.h - record one in N of the scopes of a name, to save time and space.
 *
 *   - Which call is recorded is random: of scopes that repeat in a pattern, all have their
 *     turn. What is recorded says for how many calls it stands, itself included: those since
 *     the last one of its thread. So the sum is the number of calls, but for the last few of a
 *     thread.
 *   - A rule has N, or a rate: where a thread records more calls of a name in a second, N
 *     doubles for it, and where it records less than a quarter, N halves.
 *   - Each thread of a recording has counts for OSC_SAMPLING_NAMES names; of others all calls
 *     are recorded.
 *   - While there are rules, no call takes the fast path (writer.h), so they cost nothing where
 *     there are none.
 *
 * Threading: any thread and handler; osc_sampling_take() while the writer is busy.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "recording/switches.h"

#define OSC_SAMPLING_NAMES 64u

/* Follow a list such as "parse=100,lex*=5000/s,*=1". OSC_EINVAL: it is no such list;
 * OSC_ELIMIT: too many rules, or another call does not end; OSC_ENOMEM. Then nothing has
 * changed. Call osc_session_republish() after it. */
osc_status osc_sampling_set(const char *list);

/* Get rule number I, from 0 on; false: there are fewer, or another call does not end. */
bool osc_sampling_rule(uint32_t i, struct osc_switch_rule *rule);

/* Whether there are rules. */
bool osc_sampling_is_on(void);

/* The key of the argument that has the number of calls; 0: there was never a rule. */
uint32_t osc_sampling_key(void);

/* Whether the call of NAME that OWNER makes now is recorded, and then for how many calls it
 * stands. INDEX, below OSC_LIVE_THREADS, is that of a thread, and OWNER differs between the
 * threads and the recordings that have it in turn. */
bool osc_sampling_take(uint32_t index, uint64_t owner, uint32_t name, uint32_t *n_calls);

/* Call in the child of a fork: releases the lock, which another thread of the parent may have
 * held. */
void osc_sampling_unlock(void);
