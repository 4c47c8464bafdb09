/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slow_path.h - recording where a thread's block cannot simply take the record.
 *
 * Which cases that are: see writer.h. The slow path opens the recording of an armed program,
 * gets another block, keeps the account of what is missing, and returns to the fast path
 * once nothing is unusual any more.
 *
 *   - Handlers of the thread are kept out meanwhile: what they record is dropped and counted.
 *   - The thread is not cancelled meanwhile.
 *   - A handler that jumps out of it ends recording for its thread: what that thread still
 *     records is dropped and counted as nested, and the block that it had stays with it until
 *     the recording ends.
 *
 * Threading: from any thread and from signal handlers.
 */
#pragma once

#include "recorder/thread/writer.h"

/* N_SLOTS slots for a record of this ROLE made at TICKS, or NULL: it is not recorded. */
OSC_HIDDEN struct osc_record_slot *osc_slow_reserve(uint32_t n_slots, enum osc_role role,
                                                    uint64_t ticks);

/*
 * Drop and count a record of this ROLE at once, if there is still no room: without the
 * time, which costs as much as all the rest. False: it needs osc_slow_reserve().
 */
OSC_HIDDEN bool osc_slow_drop(enum osc_role role);

/* Open the recording if it is only armed, and write what this thread still owes. */
OSC_HIDDEN void osc_slow_write_owed(void);
