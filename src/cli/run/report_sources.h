/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_sources.h - check whether the sources of a run recorded anything. A loaded collector
 * states that in the recording (source.itt), because a hook that fails prints nothing.
 *
 * Threading: one thread.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/*
 * Report in one line if the recordings in DIRECTORY, made by the program PID and its children,
 * have no ITT events. IS_ASKED: the user named ITT. Otherwise an unused ITT is normal, and
 * only a collector that was loaded and recorded nothing is reported.
 */
void osc_report_sources(const char *directory, pid_t pid, bool is_asked);
