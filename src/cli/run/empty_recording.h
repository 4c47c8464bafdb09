/* SPDX-License-Identifier: Apache-2.0 */
/*
 * empty_recording.h - write a recording for a program that used no source of events.
 *
 * It names the program and shows that there were no events. An empty directory could also come
 * from a program that never ran.
 *
 * Threading: one thread.
 */
#pragma once

#include <sys/types.h>

#include "base/status.h"
#include "recording/process_facts.h"

struct osc_sources;

/* Add the facts about process PID, which the run RUN_ID recorded with the sources S, to TO.
 * ARGV is NULL for a child of the program. */
OSC_MUST_USE osc_status osc_empty_recording_facts(struct osc_process_facts_out *to, pid_t pid,
                                                  char *const *argv, const char *run_id,
                                                  const struct osc_sources *s);

/*
 * Write the recording to DIRECTORY for process PID, which ran ARGV with the sources S.
 * OSC_EIO: failed, and no file is left.
 */
OSC_MUST_USE osc_status osc_empty_recording_write(const char *directory, pid_t pid,
                                                  char *const *argv,
                                                  const struct osc_sources *s);
