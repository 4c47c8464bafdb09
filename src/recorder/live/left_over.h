/* SPDX-License-Identifier: Apache-2.0 */
/*
 * left_over.h - what a recording whose process was killed has left at a name.
 *
 * It may be all that there is of that run, so it is never removed: its files are moved
 * aside, NAME.osc to NAME.PID.N.osc, its other parts and its live directory likewise.
 *
 *   - A process that records holds a lock on the file `blocks` of its live directory,
 *     which goes with the process, so that neither a number that is used again nor
 *     another name space of processes misleads. Without the lock nothing is moved.
 *   - Only files of the same recording are moved; others at these names are not of it.
 *
 * Threading: any thread, of any number of processes at once. Not for signal handlers.
 */
#ifndef OSC_RECORDER_LIVE_LEFT_OVER_H
#define OSC_RECORDER_LIVE_LEFT_OVER_H

#include <stdbool.h>

/* Move aside what was left at OUT and in the directory LIVE, both absolute. False if LIVE
 * is not a recording's, or its process is still there; then nothing is changed. */
bool osc_left_over_move(const char *out, const char *live);

#endif
