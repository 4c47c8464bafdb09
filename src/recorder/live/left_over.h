/* SPDX-License-Identifier: Apache-2.0 */
/*
 * left_over.h - moves aside what a killed process left at the name of a new recording.
 *
 * It may be all that is left of that run, so it is never removed: NAME.osc becomes
 * NAME.PID.N.osc, and so do its other parts and its live directory.
 *
 *   - A process that records holds a lock on the file `blocks` of its live directory. The
 *     lock ends with the process; numbers of processes would mislead, since they are used
 *     again and differ between name spaces. Files are moved only by the holder of the lock.
 *   - Only files of that recording are moved; other files with such names stay.
 *
 * Threading: any thread, of any number of processes at once. Not for signal handlers.
 */
#pragma once

#include <stdbool.h>

/* Move aside what was left at OUT and in the directory LIVE, both absolute. False if LIVE
 * is not of a recording, or its process still runs; then nothing is changed. */
bool osc_left_over_move(const char *out, const char *live);
