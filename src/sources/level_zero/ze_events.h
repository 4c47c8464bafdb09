/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ze_events.h - the events that tell when commands ran.
 *
 * An event takes times if its pool was made so. Pools of programs are made so as they are
 * created, except those that go to other processes or have properties that we do not know: of
 * events from elsewhere, nothing is known here.
 *
 * Threading: thread-safe; what is known of events is never freed.
 */
#pragma once

#include "sources/level_zero/ze_functions.h"

enum osc_ze_times {
    OSC_ZE_TIMES_NONE,  /* none: a command may signal one of ours instead */
    OSC_ZE_TIMES_READ,  /* they can be read */
    OSC_ZE_TIMES_THEIRS /* the program's alone: the host does not see the event, or it is gone
                         */
};

/* What is known of an event of a program. */
struct osc_ze_event {
    _Atomic uint32_t times;     /* enum osc_ze_times */
    _Atomic uint32_t n_waiting; /* commands that signal it and have not been read */
};

/* What is known of HANDLE; NULL: nothing. */
struct osc_ze_event *osc_ze_event_of(ze_event_handle_t handle);

/* Remember that a program made the pool HANDLE, or the event HANDLE in POOL. */
void osc_ze_add_pool(ze_event_pool_handle_t handle, enum osc_ze_times times);
void osc_ze_add_event(ze_event_handle_t handle, ze_event_pool_handle_t pool);

/* An event of ours, in a context. */
struct osc_ze_own_event {
    struct osc_ze_own_event *next; /* of the unused ones of its context */
    struct osc_ze_context *context;
    ze_event_handle_t handle; /* NULL: it could not be made */
    void *kept;               /* by who took it last; NULL: nobody has */
};

/* An event of ours that is not signalled, for commands of HANDLE's lists; NULL: there is none.
 */
struct osc_ze_own_event *osc_ze_take_event(ze_context_handle_t handle);

/* EVENT is signalled by no command any more. */
void osc_ze_give_back_event(struct osc_ze_own_event *event);

/* The program is about to destroy the context HANDLE: destroy our events in it. */
void osc_ze_drop_events(ze_context_handle_t handle);
