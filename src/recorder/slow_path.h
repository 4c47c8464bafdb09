/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slow_path.h - recording when the fast path does not apply.
 *
 * writer.h lists the cases. The slow path opens the recording of an armed program, gets another
 * block, accounts for missing records, and returns to the fast path once nothing is unusual.
 *
 *   - Meanwhile, records of the thread's signal handlers are dropped and counted.
 *   - The thread is not cancelled meanwhile.
 *   - A handler that jumps out of the slow path ends recording for its thread: later records of
 *     that thread are dropped and counted as nested, and it keeps its block until it ends.
 *   - If no block is free, the call waits for the flusher to add some, as long as
 *     osc_blocks_await() says that it can: many threads may begin at once.
 *
 * Threading: from any thread and from signal handlers.
 */
#pragma once

#include "recorder/thread/writer.h"

/* Reserve N_SLOTS slots for a record of this ROLE made at TICKS; NULL: it is not recorded. */
OSC_HIDDEN struct osc_record_slot *osc_slow_reserve(uint32_t n_slots, enum osc_role role,
                                                    uint64_t ticks);

/*
 * Drop and count a record of this ROLE at once if there is still no room, without reading the
 * clock, which costs as much as all the rest. False: use osc_slow_reserve().
 */
OSC_HIDDEN bool osc_slow_drop(enum osc_role role);

/*
 * Whether a scope called NAME is recorded that begins now or is complete, by ROLE. If names are
 * sampled, it may not be, and is accounted for; else *N_CALLS is for how many calls it stands.
 */
OSC_HIDDEN bool osc_slow_samples(uint32_t name, enum osc_role role, uint32_t *n_calls);

/* Begin a scope that is left out, and accounted for. */
OSC_HIDDEN void osc_slow_skip(void);

/* Whether the innermost scope was left out on purpose, and ends with this. */
OSC_HIDDEN bool osc_slow_end_skipped(void);

/* A scope of osc_scope_open() has ended that a writer may account for at LEVEL, of this or of
 * another thread. */
OSC_HIDDEN void osc_slow_forget(uint32_t level);

/* Open the recording if it is only armed, and write the ends and losses that this thread still
 * owes. */
OSC_HIDDEN void osc_slow_write_owed(void);
