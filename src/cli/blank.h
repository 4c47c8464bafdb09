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
#include "cli/sources.h"

/*
 * Write it into DIRECTORY for process PID, which ran ARGV with the sources S.
 * OSC_EIO, and nothing is there.
 */
OSC_MUST_USE osc_status osc_blank_write(const char *directory, pid_t pid, char *const *argv,
                                        const struct osc_sources *s);

#endif
