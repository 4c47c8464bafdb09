/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_notes.h - what a program says of a source that failed or had nothing to record.
 *
 * Only the program can tell whether a tracer can be made, whether there is a compiler, or
 * whether its Python can load the package. It must not print, so the process leaves a note of
 * one line in the directory of the run: .SOURCE-failed.PID (python/opscope/torch/hook and
 * sources/source_state.h). Likewise .torch-idle.PID, if a profile of torch ended before its
 * schedule began to record (python/opscope/torch/native.py).
 *
 * Threading: one thread.
 */
#pragma once

/* Report the first note of each source in DIRECTORY in one line, and remove all notes. Returns
 * the bits of the sources. */
unsigned osc_source_notes_report(const char *directory);

#define OSC_SOURCE_NOTE_BYTES 512

/* Remove all notes in DIRECTORY of profiles of torch that did not begin to record. TEXT becomes
 * that of one of them; "": there is none. */
void osc_source_notes_take_idle(const char *directory, char text[OSC_SOURCE_NOTE_BYTES]);
