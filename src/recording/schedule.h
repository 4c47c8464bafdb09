/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schedule.h - in which steps to record: torch.profiler's state machine, and its words.
 *
 * osc_schedule_action() (opscope/record.h) says what a step is for; going from one to
 * the next takes the actions of a table, the same as torch.profiler's. Its state
 * DEVICE_STOPPED is left out: torch enters it when a device's own buffers are full, and
 * nothing of that kind comes through our interface.
 *
 * Threading: pure functions.
 */
#pragma once

#include <stdbool.h>

#include "base/status.h"
#include "opscope/record.h"

/* The recording ends: behind the last of enum osc_action. */
#define OSC_ACTION_EXIT 4u

/* What a change of action takes, in the order in which it is done. */
enum osc_schedule_deed {
    OSC_DEED_START_FIRST = 1, /* start a window only to stop it at once: it is discarded */
    OSC_DEED_STOP = 2,        /* the window ends */
    OSC_DEED_READY = 4,       /* and is handed over: trace_ready */
    OSC_DEED_PREPARE = 8,     /* record, but discard it */
    OSC_DEED_START = 16,      /* a window begins */
    OSC_DEED_WARN = 32,       /* no schedule should do this */
};

/* Deeds between a step for FROM and one for TO (enum osc_action, or OSC_ACTION_EXIT). */
unsigned osc_schedule_deeds(unsigned from, unsigned to);

/* The least limit_size: parts are 128 KiB at least, and a rotation has eight. */
#define OSC_SCHEDULE_LIMIT_MIN (UINT64_C(1) << 20)

/* What OPSCOPE_SCHEDULE can say. */
struct osc_schedule_text {
    bool has_schedule;
    struct osc_schedule schedule;
    uint64_t flight_ns, flight_steps, limit_bytes;
    double slow_step;
    int dump_signal, toggle_signal;
    bool dump_on_crash;
};

/*
 * Read words with commas between them, in any order:
 *
 *     skip_first=N wait=N warmup=N active=N repeat=N skip_first_wait=N     steps
 *     flight=10s (ns, us, ms, s, min) or flight=20steps     flight recorder
 *     slow=2.5                       dump when a step takes that many medians
 *     signal=USR2 toggle=USR1        dump, or pause and resume, at a signal
 *     crash                          dump at a fatal signal
 *     limit_size=2G                  of files: bytes, or K, M, G, T of 1,024
 *
 * OSC_EINVAL: ERR says which word is wrong, OUT is zero.
 */
OSC_MUST_USE osc_status osc_schedule_parse(const char *text, struct osc_schedule_text *out,
                                           struct osc_err *err);
