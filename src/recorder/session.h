/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.h - whether this process records, and into what.
 *
 *     OFF --osc_start()--> OPENING --> RECORDING --osc_stop()--> STOPPING --> OFF
 *      '--osc_session_arm()--> ARMED --first record--> OPENING ...
 *
 *   - A recording is opened by one thread; others that record meanwhile wait a little,
 *     because there is nowhere yet to put what they bring. If that takes long, calls wait no
 *     more, drop and count.
 *   - A handler that would open it, but interrupted what that takes, drops its record and
 *     counts it as nested: the next call opens it.
 *   - A thread is not cancelled while it opens or stops.
 *   - The flusher is a thread, and to start one takes malloc(): not from within a signal
 *     handler (see handler.h), which may have interrupted that. A recording that such a call
 *     opens gets its flusher with the next call that is in none; one in a child that libc
 *     does not know of never does, and is written when it stops.
 *   - A child that shares our memory, as after vfork(), records as the thread whose place it
 *     takes, and opens and stops nothing.
 *   - The child of a fork finds that it is one at its first call, leaves all that is its
 *     parent's, and is ARMED if its parent recorded.
 *   - Pauses count, and the schedule holds on its own account: recording goes on when
 *     there is neither.
 *
 * Threading: from any thread; where said, from signal handlers as well.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "opscope/record.h"
#include "wire/record.h"

/* What the state machine calls that lies above it. */
struct osc_session_above {
    void (*begun)(void);       /* a recording has begun: record what is known before */
    void (*ending)(void);      /* the recording ends: record what ends with it */
    void (*pause)(bool pause); /* as osc_pause() (true) and osc_resume() (false) */
};

/* CALLS is static, all are set. One thread, before all else. */
void osc_session_set_above(const struct osc_session_above *calls);

/* Record from the first call on, as the environment says. One thread, before all else. */
void osc_session_arm(void);

/* osc_start(), osc_stop(). */
OSC_MUST_USE osc_status osc_session_start(const struct osc_start_options *options);
osc_status osc_session_stop(void);

/* Whether calls are recorded, now or from the first one on. Handlers, too. */
bool osc_session_is_on(void);

/* Whether what we know is of this process; in the child of a fork it is from now on. False
 * if this interrupts the very call that sees to it. Handlers, too. */
bool osc_session_is_ours(void);

/* The number of the recording, opened if it was only armed; 0: there is none, and *WHY the
 * record is lost. The slow path, busy. */
uint64_t osc_session_enter(enum osc_loss *why);

/* If a recording was opened since this was last called, osc_session_above.begun. Handlers,
 * too. */
void osc_session_announce(void);

/* Whether the recording is still to get its flusher: calls are to come by
 * osc_session_enter(). Handlers, too. */
bool osc_session_awaits_flusher(void);

/* The number of the recording that goes on, or 0. Handlers, too. */
uint64_t osc_session_generation(void);

/* Whether calls are counted but not recorded. Handlers, too. */
bool osc_session_is_paused(void);

/* Add a cause to pause, or take one away; true if that made the difference. Handlers, too. */
bool osc_session_pause(void);
bool osc_session_resume(void);
void osc_session_hold(bool hold);
