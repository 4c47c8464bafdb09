/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_notes.h - report why a source failed in a program.
 *
 * Only the program can tell whether a tracer can be made, whether there is a compiler, or
 * whether its Python can load the package. It must not print, so the process leaves a note of
 * one line in the directory of the run: .SOURCE-failed.PID (python/opscope/torch/hook and
 * sources/source_state.h).
 *
 * Threading: one thread.
 */
#pragma once

/* Report the first note of each source in DIRECTORY in one line, and remove all notes. Returns
 * the bits of the sources. */
unsigned osc_source_notes_report(const char *directory);
