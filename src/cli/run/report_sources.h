/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_sources.h - check whether the sources of a run recorded anything. A source that was
 * there states that in the recording (source.itt, source.torch), because a hook that fails
 * prints nothing.
 *
 * Threading: one thread.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/*
 * Report in one line each which of the sources WANTED, bits, have recorded
 * nothing in DIRECTORY, where the program PID and its children recorded. NAMED: those
 * that the user named. Another one that nothing used is normal, and only a collector that was
 * loaded and recorded nothing is reported.
 */
void osc_report_sources(const char *directory, pid_t pid, unsigned wanted, unsigned named);
