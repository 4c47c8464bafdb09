/* SPDX-License-Identifier: Apache-2.0 */
/*
 * left_over.h - moves aside the files of a killed process that have the name of a new
 * recording.
 *
 * They may be all that is left of that run, so they are never removed: NAME.osc becomes
 * NAME.PID.N.osc; its other parts and its live directory are renamed likewise.
 *
 *   - A process that records holds a lock on the file `blocks` of its live directory. The lock
 *     ends with the process; a process number would mislead, because it can be reused and
 *     differs between name spaces. Files are moved only by the holder of the lock.
 *   - Only files of that recording are moved; other files with such names stay.
 *
 * Threading: any thread, of any number of processes at once. Not for signal handlers.
 */
#pragma once

#include <stdbool.h>

/* Move aside the recording at OUT and its live directory LIVE, both absolute paths. False if
 * LIVE is not of a recording, or its process still runs; then nothing is changed. */
bool osc_left_over_move(const char *out, const char *live);
