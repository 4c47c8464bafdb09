/* SPDX-License-Identifier: Apache-2.0 */
/*
 * windows.h - steps, and what follows from them: windows of a schedule, dumps of slow
 * steps, and where whole steps begin.
 *
 *     osc_step(), any thread --> osc_windows_step_*() --cuts--> osc_windows_take(), flusher
 *
 * The schedule moves on in the thread that steps, so that what is recorded from there on
 * is known to it at once; the flusher hears of it as cuts in time: until here, from here.
 *
 *   - The live directory says where the window begins that is not written yet, from the
 *     step on that begins it: who ends without a word leaves no warm-up and loses no window.
 *   - Steps that several threads take at once count once: one of them moves the schedule.
 *   - If the flusher is so late that there is no room for another cut, the schedule stays
 *     where it is for a step.
 *
 * Threading: osc_windows_step_begin() and osc_windows_step_end() from any thread and from
 * signal handlers; osc_windows_open() before all; the rest by the flusher.
 */
#ifndef OSC_RECORDER_FLUSHER_WINDOWS_H
#define OSC_RECORDER_FLUSHER_WINDOWS_H

#include <stdbool.h>
#include <stdint.h>

#include "opscope/record.h"

#define OSC_WINDOWS_STEPS 4096u /* whose begin is remembered */

struct osc_windows_start {
    const struct osc_schedule *schedule; /* borrowed; NULL: all is recorded */
    double slow_step;                    /* 0: no step is slow */
    bool is_flight;                      /* what is recorded in warm-up would get into dumps */
    void (*hold)(bool hold);             /* see recorder/flusher/flush.h */
    void (*wake)(void);                  /* the flusher has something to do */
    uint64_t *begin; /* borrowed: window_begin of the live directory (wire/live.h), or NULL */
};

/* Begin anew, with what step 0 is for: holds or not, from now on. */
void osc_windows_open(const struct osc_windows_start *start);

/* The recording is over: steps are only counted. */
void osc_windows_close(void);

/* See osc_flush_step_end(), osc_flush_step_begin(). */
void osc_windows_step_end(uint64_t ticks);
void osc_windows_step_begin(uint64_t step, uint64_t ticks);

/* A change of the schedule at a time. */
struct osc_cut {
    uint64_t ticks;
    unsigned deeds; /* enum osc_schedule_deed */
};

/* The next cut; false: there is none. All that the one before asks for has been done. */
bool osc_windows_take(struct osc_cut *cut);

/* What is still to be done when the recording ends: deeds. */
unsigned osc_windows_exit(void);

/* Whether a window is open since the start, without a cut. */
bool osc_windows_begins_open(void);

/* When the last slow step has ended, if the first that was not taken began before UNTIL:
 * all of them are taken. 0: there is none. No step is slow before 8 have ended. */
uint64_t osc_windows_take_slow(uint64_t until);

/* All from FROM to UNTIL is written: the slow steps in it need not be taken. */
void osc_windows_dumped(uint64_t from, uint64_t until);

/* The last step that began, -1: none yet. */
int64_t osc_windows_step(void);

/*
 * Where a whole step begins: the last one that began at TICKS or before, or if N_STEPS is
 * not 0 and that is earlier, the one N_STEPS before the one that runs. TICKS if no step
 * began until then, but the first one that is remembered if others were before it.
 */
uint64_t osc_windows_whole(uint64_t ticks, uint64_t n_steps);

/* The first step that began at TICKS or later; TICKS if there is none. */
uint64_t osc_windows_next_whole(uint64_t ticks);

#endif
