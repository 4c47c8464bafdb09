/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.h - whether this process records, and where.
 *
 *     OFF --osc_start()--> OPENING --> RECORDING --osc_stop()--> STOPPING --> OFF
 *      '--osc_session_arm()--> ARMED --first record--> OPENING ...
 *
 *   - One thread opens a recording; other threads that record meanwhile wait a little, because
 *     there is no memory for their records yet. If opening takes long, calls no longer wait,
 *     but drop and count their records.
 *   - A signal handler that would open it but interrupted a call that opening needs drops its
 *     record and counts it as nested: the next call opens it.
 *   - A thread is not cancelled while it opens or stops.
 *   - The flusher is a thread, and starting one calls malloc(), which a signal handler may have
 *     interrupted (see handler.h). So a recording that is opened in a handler gets its flusher
 *     with the next call outside of one. A recording in a child that libc does not know of
 *     never gets one, and is written when it stops.
 *   - A child that shares our memory, as after vfork(), records as the thread that it suspends,
 *     and opens and stops nothing.
 *   - The child of a fork is detected at its first call. It drops everything that belongs to
 *     its parent, and is ARMED if its parent recorded.
 *   - Pauses are counted, and the schedule holds independently of them: records are stored when
 *     there is neither.
 *
 * Threading: from any thread; where noted, from signal handlers as well.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "opscope/record.h"
#include "wire/record.h"

/* Functions of higher layers that the state machine calls. */
struct osc_session_above {
    void (*begun)(void);       /* a recording has begun: record what was known before */
    void (*switched)(void);    /* the rules of a recording have changed: record them */
    void (*ending)(void);      /* the recording ends: record what ends with it */
    void (*pause)(bool pause); /* as osc_pause() (true) and osc_resume() (false) */
    osc_status (*stop)(void);  /* as osc_stop() */
};

/* CALLS is static, and all its functions are set. One thread, before all other calls. */
void osc_session_set_above(const struct osc_session_above *calls);

/* Arm recording from the first record on, if the environment says so. One thread, before all
 * other calls. */
void osc_session_arm(void);

/* Implement osc_start() and osc_stop(). */
OSC_MUST_USE osc_status osc_session_start(const struct osc_start_options *options);
osc_status osc_session_stop(void);

/* The path of the file that is being recorded; "": none. */
const char *osc_session_path(void);

/* Whether calls are recorded, or will be from the first one on. Handlers, too. */
bool osc_session_is_on(void);

/* Whether our state belongs to this process. In the child of a fork, the first call makes it
 * so. False if this interrupts that call. Handlers, too. */
bool osc_session_is_ours(void);

/* The number of the recording, which is opened if it was only armed; 0: there is none, and *WHY
 * is the cause of the loss. Called by the slow path while the writer is busy. */
uint64_t osc_session_enter(enum osc_loss *why);

/* Call osc_session_above.begun if a recording was opened since the last call. Handlers, too. */
void osc_session_announce(void);

/* Whether the recording has no flusher yet, so that calls must go through osc_session_enter().
 * Handlers, too. */
bool osc_session_awaits_flusher(void);

/* The number of the current recording, or 0. Handlers, too. */
uint64_t osc_session_generation(void);

/* Whether calls are counted but not recorded. Handlers, too. */
bool osc_session_is_paused(void);

/* Names are sampled from now on, or are not. Handlers, too. */
void osc_session_republish(void);

/* Add or remove a cause to pause; true if that changed the state. Handlers, too. */
bool osc_session_pause(void);
bool osc_session_resume(void);
void osc_session_hold(bool hold);
