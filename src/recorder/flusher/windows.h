/* SPDX-License-Identifier: Apache-2.0 */
/*
 * windows.h - steps and their effects: windows of a schedule, dumps of slow steps, and
 * where whole steps begin.
 *
 *     osc_step(), any thread --> osc_windows_step_*() --cuts--> osc_windows_take(), flusher
 *
 * The thread that steps advances the schedule, so that a change applies to its next record. The
 * flusher receives each change as a cut: a time, and what begins or ends there.
 *
 *   - The live directory stores where the unwritten window begins. So a process that is killed
 *     leaves no warm-up and loses no window.
 *   - Steps by several threads at the same time count once: one of them advances the schedule.
 *   - If the flusher is so late that no cut fits in the queue, the schedule waits for a later
 *     step.
 *
 * Threading: osc_windows_step_begin() and osc_windows_step_end() from any thread and from
 * signal handlers; osc_windows_open() before all others; the rest by the flusher.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "opscope/record.h"

#define OSC_WINDOWS_STEPS (1u << 17) /* whose begins are remembered */

struct osc_windows_start {
    const struct osc_schedule *schedule; /* borrowed; NULL: all is recorded */
    double slow_step;                    /* 0: no step is slow */
    bool is_flight; /* with a flight recorder: records of warm-up would get into dumps */
    void (*hold)(bool hold); /* see recorder/flusher/flush.h */
    void (*wake)(void);      /* the flusher has something to do */
    uint64_t *begin; /* borrowed: window_begin of the live directory (wire/live.h), or NULL */
};

/* From now on BEGUN is called before a window begins, by the thread that steps. One thread,
 * before all other calls. */
void osc_windows_tell(void (*begun)(void));

/* Start afresh with the action of step 0, and hold or not accordingly. */
void osc_windows_open(const struct osc_windows_start *start);

/* The recording is over: from now on only count steps. */
void osc_windows_close(void);

/* See osc_flush_step_end(), osc_flush_step_begin(). */
void osc_windows_step_end(uint64_t ticks);
void osc_windows_step_begin(uint64_t step, uint64_t ticks);

/* The deeds of STEP, which is about to begin (enum osc_schedule_deed). */
unsigned osc_windows_deeds_of(uint64_t step);

/* A change of the schedule at a time. */
struct osc_cut {
    uint64_t ticks;
    unsigned deeds; /* enum osc_schedule_deed */
};

/* Take the next cut; false: there is none. The caller has carried out the last one. */
bool osc_windows_take(struct osc_cut *cut);

/* The deeds that are still to be done when the recording ends. */
unsigned osc_windows_exit(void);

/* Whether a window is open from the start, without a cut. */
bool osc_windows_begins_open(void);

#define OSC_WINDOWS_SLOW 64u /* slow steps that wait for a dump; a power of two */

/* A slow step, or several that follow each other. */
struct osc_windows_slow {
    uint64_t begin, end; /* ticks */
};

/* Get the slow steps that have ended and are in no dump, in order; returns how many. No step
 * counts as slow before 8 have ended. If the flusher is very late, the last one stands for all
 * that followed. */
uint32_t osc_windows_slow(struct osc_windows_slow slow[OSC_WINDOWS_SLOW]);

/* Whether the current step began so long before TICKS that it will count as slow. */
bool osc_windows_is_slow(uint64_t ticks);

/* Everything from FROM to UNTIL has been written: forget the slow steps in between, unless an
 * earlier one waits. */
void osc_windows_dumped(uint64_t from, uint64_t until);

/* The number of the last step that began; -1: none yet. */
int64_t osc_windows_step(void);

/*
 * Where to begin with a whole step: the begin of the step N_STEPS before the last one that
 * began at TICKS or before; of the first step if there are fewer. If no step began by then,
 * TICKS; if older steps are not remembered, the first that is.
 */
uint64_t osc_windows_whole(uint64_t ticks, uint64_t n_steps);

/* The begin of the first step at TICKS or later; TICKS if there is none. */
uint64_t osc_windows_next_whole(uint64_t ticks);

/* How many of the remembered steps began at FROM or later and before UNTIL. */
uint64_t osc_windows_count(uint64_t from, uint64_t until);
