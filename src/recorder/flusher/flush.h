/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flush.h - the thread that writes: full blocks, names and clock readings into NAME.osc.
 *
 * osc_start() opens the live directory and calls osc_flush_start(); from then on only the
 * flusher reads blocks, gives them back and changes the .osc files. It also runs the
 * schedule, the flight recorder, the signals and the control socket, because each of them
 * ends in "write what there is, now".
 *
 *   - Without a schedule or flight recorder there is one file, NAME.osc, or with a limit
 *     NAME.osc, NAME.2.osc, ...: each can be read alone, the oldest are deleted.
 *   - With a schedule or flight recorder each window or dump is such a file.
 *   - Nothing here allocates with malloc, and nothing takes a lock of libc, so a child of
 *     fork() can begin anew whatever the flusher did at that moment. Nothing has to be done
 *     before a fork; the child calls osc_flush_leave_socket(), and osc_flush_forget() when
 *     it records.
 *   - When the disk is full, the flusher stops writing and goes on counting; what was not
 *     written stays in the live directory as long as memory allows.
 *
 * Threading: osc_flush_start() and osc_flush_stop() by one thread at a time;
 * osc_flush_step*() from any thread and from signal handlers; osc_flush_dump() from any
 * thread. Functions of struct osc_flush_core are called as said there.
 */
#pragma once

#include <stdbool.h>

#include "base/status.h"
#include "opscope/record.h"
#include "wire/live.h"

/* What the flusher calls of the state machine. All are set, wait-free, and change no errno. */
struct osc_flush_core {
    /* Record nothing (true) or go on (false), as a schedule wants it: a cause of its own
     * beside that of osc_pause(). Any thread that calls osc_flush_step(). */
    void (*hold)(bool hold);
    /* As osc_pause() (true) and osc_resume() (false): ctl and the toggle signal. Flusher. */
    void (*pause)(bool pause);
    /* Whether calls are recorded now: neither held nor paused. Flusher. */
    bool (*is_recording)(void);
};

struct osc_flush_start {
    const struct osc_flush_core *core; /* static */
    /* The live directory: open, blocks.h ready, `strings` in it. Stays the caller's. */
    int live_fd;
    const char *live_path; /* absolute; copied */
    const char *out;       /* absolute path of NAME.osc; copied */
    uint64_t recording[2];
    uint64_t ticks_hz;                       /* of osc_now(); 0: only the anchors tell */
    const char *clock_name;                  /* "tsc", "monotonic"; static */
    const struct osc_start_options *options; /* NULL: all defaults. Copied, its schedule too */
    bool is_alone;                           /* no thread may be started here */
};

/*
 * Create the first file and start the thread. Reads OPSCOPE_SCHEDULE and OPSCOPE_RUN_ID.
 * Holds at once if the schedule begins with steps that are not recorded. On failure
 * nothing is left: OSC_EIO (no file there), OSC_ENOMEM (no memory, no thread).
 *
 * With is_alone there is no thread before osc_flush_attend(): records stay in the live
 * directory, as far as that has room, until osc_flush_stop() writes them, and signals and
 * the control socket are not answered. Little more than system calls is made.
 */
OSC_MUST_USE osc_status osc_flush_start(const struct osc_flush_start *start);

/* It was started alone: start its thread. Once, and not beside osc_flush_stop(). If that
 * fails, it stays alone. */
void osc_flush_attend(void);

/*
 * Write all that was recorded (the caller has switched recording off), end the file and
 * the thread. OSC_OK: the live directory is not needed any more, and the caller removes it;
 * also if the flusher does not run. OSC_EIO: not everything could be written, so it must
 * stay. OSC_EINVAL on the flusher's own thread, which continues.
 */
osc_status osc_flush_stop(void);

/*
 * The step that ran has ended at TICKS, its STEP_END is written; step STEP begins at
 * TICKS, its STEP_BEGIN is not written yet. Moves the schedule on and watches for slow
 * steps. osc_step() calls both, one after the other. Wait-free.
 */
void osc_flush_step_end(uint64_t ticks);
void osc_flush_step_begin(uint64_t step, uint64_t ticks);

/*
 * Write what the flight recorder holds, else what is still in memory, and wait for it.
 * OSC_EIO if it cannot be written or there is no thread to do it, OSC_EINVAL on the
 * flusher's thread, OSC_OK if it does not run.
 */
osc_status osc_flush_dump(void);

/* In the child of a fork, at once: a question to the parent must not wait for the child. */
void osc_flush_leave_socket(void);

/* In the child of a fork: close what is open, forget the rest, and remove nothing. */
void osc_flush_forget(void);
