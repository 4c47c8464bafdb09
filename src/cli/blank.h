/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blank.h - the recording of a program that used nothing we collect.
 *
 * It says which program it was, and that nothing came: better than an empty directory,
 * which could as well be that of a program that never ran.
 *
 * Threading: one thread.
 */
#ifndef OSC_CLI_BLANK_H
#define OSC_CLI_BLANK_H

#include <sys/types.h>

#include "base/status.h"
#include "recorder/facts.h"

struct osc_sources;

/* What is known of process PID of the run S to TO: ARGV is NULL if it is a child of the
 * program's. */
OSC_MUST_USE osc_status osc_blank_facts(struct osc_facts_out *to, pid_t pid, char *const *argv,
                                        const struct osc_sources *s);

/*
 * Write it into DIRECTORY for process PID, which ran ARGV with the sources S.
 * OSC_EIO, and nothing is there.
 */
OSC_MUST_USE osc_status osc_blank_write(const char *directory, pid_t pid, char *const *argv,
                                        const struct osc_sources *s);

#endif
