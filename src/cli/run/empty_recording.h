/* SPDX-License-Identifier: Apache-2.0 */
/*
 * empty_recording.h - the recording of a program that used nothing we collect.
 *
 * It says which program it was, and that nothing came: better than an empty directory,
 * which could as well be that of a program that never ran.
 *
 * Threading: one thread.
 */
#pragma once

#include <sys/types.h>

#include "base/status.h"
#include "recording/process_facts.h"

struct osc_sources;

/* What is known of process PID of the run S to TO: ARGV is NULL if it is a child of the
 * program's. */
OSC_MUST_USE osc_status osc_empty_recording_facts(struct osc_process_facts_out *to, pid_t pid,
                                                  char *const *argv,
                                                  const struct osc_sources *s);

/*
 * Write it into DIRECTORY for process PID, which ran ARGV with the sources S.
 * OSC_EIO, and nothing is there.
 */
OSC_MUST_USE osc_status osc_empty_recording_write(const char *directory, pid_t pid,
                                                  char *const *argv,
                                                  const struct osc_sources *s);
