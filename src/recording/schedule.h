/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schedule.h - which steps to record: torch.profiler's state machine, and its text form.
 *
 * osc_schedule_action() (opscope/record.h) gives the purpose of a step. Going from one step to
 * the next takes the actions of a table, the same as in torch.profiler. Its state
 * DEVICE_STOPPED is left out: torch enters it when the buffers of a device are full, and our
 * interface has no such buffers.
 *
 * Threading: pure functions.
 */
#pragma once

#include <stdbool.h>

#include "base/status.h"
#include "opscope/record.h"

/* The recording ends; one more than the last enum osc_action. */
#define OSC_ACTION_EXIT 4u

/* What a change of action requires, in order of execution. */
enum osc_schedule_deed {
    OSC_DEED_START_FIRST = 1, /* start a window and stop it at once: it is discarded */
    OSC_DEED_STOP = 2,        /* the window ends */
    OSC_DEED_READY = 4,       /* report the window: trace_ready */
    OSC_DEED_PREPARE = 8,     /* record a warm-up, which is discarded */
    OSC_DEED_START = 16,      /* a window begins */
    OSC_DEED_WARN = 32,       /* warn: no schedule should do this */
};

/* Deeds between a step for FROM and one for TO (enum osc_action, or OSC_ACTION_EXIT). */
unsigned osc_schedule_deeds(unsigned from, unsigned to);

/* The smallest buffer: 16 blocks. */
#define OSC_SCHEDULE_BUFFER_MIN (UINT64_C(256) << 10)
/* The smallest limit_size: a part has at least 128 KiB, and a rotation has eight parts. */
#define OSC_SCHEDULE_LIMIT_MIN (UINT64_C(1) << 20)

/* The content of OPSCOPE_SCHEDULE. */
struct osc_schedule_text {
    bool has_schedule;
    struct osc_schedule schedule;
    uint64_t flight_ns, flight_steps, buffer_bytes, limit_bytes;
    double slow_step;
    int dump_signal, toggle_signal;
    bool dump_on_crash;
};

/*
 * Read words separated by commas, in any order:
 *
 *     skip_first=N wait=N warmup=N active=N repeat=N skip_first_wait=N     steps
 *     flight=10s (ns, us, ms, s, min) or flight=20steps     flight recorder
 *     slow=2.5                       dump when a step takes that many medians
 *     signal=USR2 toggle=USR1        dump, or pause and resume, at a signal
 *     crash                          dump at a fatal signal
 *     buffer=256M                    memory for records: bytes, or K, M, G, T of 1,024
 *     limit_size=2G                  of files, likewise
 *
 * OSC_EINVAL: ERR names the wrong word, and OUT is zeroed.
 */
OSC_MUST_USE osc_status osc_schedule_parse(const char *text, struct osc_schedule_text *out,
                                           struct osc_err *err);
