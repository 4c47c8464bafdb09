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
 *     fork() can start afresh whatever the flusher was doing at that moment. Nothing has to be
 *     done before a fork; the child calls osc_flush_leave_socket(), and osc_flush_forget() when
 *     it records.
 *   - When the disk is full, the flusher stops writing but keeps counting; unwritten records
 *     stay in the live directory as long as memory allows.
 *
 * Threading: osc_flush_start() and osc_flush_stop() by one thread at a time;
 * osc_flush_step*() from any thread and from signal handlers; osc_flush_dump() from any
 * thread. struct osc_flush_core says where its functions are called.
 */
#pragma once

#include <stdbool.h>

#include "base/status.h"
#include "opscope/record.h"
#include "recorder/flusher/flush_options.h"
#include "wire/live.h"

/* Functions of the state machine that the flusher calls. All are set, wait-free, and leave
 * errno unchanged. */
struct osc_flush_core {
    /* Record nothing (true) or continue (false) because of a schedule; independent of
     * osc_pause(). Called by any thread that calls osc_flush_step_*(). */
    void (*hold)(bool hold);
    /* Like osc_pause() (true) and osc_resume() (false), for ctl and the toggle signal. Called
     * by the flusher. */
    void (*pause)(bool pause);
    /* Whether calls are recorded now: neither held nor paused. Called by the flusher. */
    bool (*is_recording)(void);
    /* Names are sampled from now on, or are not. Called by the flusher. */
    void (*republish)(void);
};

struct osc_flush_start {
    const struct osc_flush_core *core; /* static */
    /* The live directory: open, blocks.h ready, `strings` in it. Stays the caller's. */
    int live_fd;
    const char *live_path; /* absolute; copied */
    const char *out;       /* absolute path of NAME.osc; copied */
    uint64_t recording[2];
    uint64_t ticks_hz;                       /* of osc_now(); 0: known only from the anchors */
    const char *clock_name;                  /* "tsc", "monotonic"; static */
    const struct osc_flush_options *options; /* copied with its schedule */
    bool is_alone;                           /* no thread may be started here */
    bool is_late;                            /* ranges may have begun before */
};

/*
 * Create the first file and start the thread. Reads OPSCOPE_SCHEDULE and OPSCOPE_RUN_ID.
 * Holds at once if the schedule begins with steps that are not recorded. On failure nothing is
 * left behind: OSC_EIO (cannot create the file), OSC_ENOMEM (no memory or no thread).
 *
 * With is_alone there is no thread before osc_flush_attend(): records stay in the live
 * directory, as far as that has room, until osc_flush_stop() writes them, and signals and
 * the control socket are not answered. It makes little more than system calls.
 */
OSC_MUST_USE osc_status osc_flush_start(const struct osc_flush_start *start);

/* Start the thread of a flusher that was started alone. Call it once, and not concurrently with
 * osc_flush_stop(). On failure the flusher stays alone. */
void osc_flush_attend(void);

/*
 * Write everything recorded (the caller has switched recording off), and end the file and the
 * thread. OSC_OK: the live directory is no longer needed, and the caller removes it; also if
 * the flusher does not run. OSC_EIO: not everything could be written, so it must stay.
 * OSC_EINVAL on the flusher's own thread, which continues. *IS_HARMED: somebody removed, moved
 * or cut a file while it was written.
 */
osc_status osc_flush_stop(bool *is_harmed);

/*
 * The current step has ended at TICKS, and its STEP_END is recorded; step STEP begins at TICKS,
 * and its STEP_BEGIN is not recorded yet. Advances the schedule and watches for slow steps.
 * osc_step() calls both, one after the other. Wait-free.
 */
void osc_flush_step_end(uint64_t ticks);
void osc_flush_step_begin(uint64_t step, uint64_t ticks);

/*
 * Write what the flight recorder holds, or without one what is still in memory, and wait until
 * it is done. OSC_EIO if it cannot be written or there is no flusher thread, OSC_EINVAL on the
 * flusher's thread, OSC_OK if it does not run.
 */
osc_status osc_flush_dump(void);

/* Call in the child of a fork, at once: a question to the parent must not wait for the
 * child. */
void osc_flush_leave_socket(void);

/* Call in the child of a fork: closes what is open, forgets the rest, and removes nothing. */
void osc_flush_forget(void);
