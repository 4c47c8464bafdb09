/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_sources.h - whether what a run asked for was there: a collector that was loaded says
 * so in the recording (source.itt), because every hook into a program fails in silence.
 *
 * Threading: one thread.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/*
 * Tell, in one line, if nothing of ITT is in the recordings of DIRECTORY, made by the
 * program PID and its children. IS_ASKED: ITT was asked for by name; if it was not, that
 * nothing called it is as usual, and only a collector that brought nothing is told.
 */
void osc_report_sources(const char *directory, pid_t pid, bool is_asked);
