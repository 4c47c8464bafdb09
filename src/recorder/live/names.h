/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names.h - one number for each distinct string that the program records.
 *
 * Strings lie in the log of wire/live.h: mapped memory that becomes the file `strings`
 * when a recording is opened. A name is the place of its entry, so it is good in every
 * recording of this process and in those of its children by fork.
 *
 *   - Entries are appended by moving osc_live_strings.used_bytes; the length is written
 *     last, so that whoever finds it finds the bytes.
 *   - A table in private memory finds them: levels of slots, each larger than the one
 *     before. A string looks at a few slots a level and takes the first free one, so two
 *     threads that bring the same string meet in the same slot.
 *   - The log grows ahead of its use, by whoever needs it, who takes no signals meanwhile.
 *     Where that fails or somebody else is at it for too long, there is no name, and that is
 *     counted.
 *
 * Threading: osc_names_add() from any thread and from signal handlers; the others by one
 * thread at a time, osc_names_open() and osc_names_detach() beside any osc_names_add().
 */
#ifndef OSC_RECORDER_LIVE_NAMES_H
#define OSC_RECORDER_LIVE_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#define OSC_NAME_BYTES_MAX (16u << 20)

/*
 * The name of LEN bytes at S; 0: none, see opscope/record.h. What was lost is added to
 * *N_FULL (no room) or *N_TOO_BIG (cut). Does not change errno.
 */
uint32_t osc_names_add(const char *s, size_t len, uint64_t *n_full, uint64_t *n_too_big);

/* Put the log, with what is in it, into a new file `strings` in the directory DIR_FD.
 * OSC_ECANCELED: somebody is at work on the log, who may be whom this handler interrupted;
 * it can be tried again later. */
OSC_MUST_USE osc_status osc_names_open(int dir_fd, const uint64_t recording[2]);

/* Go on in private memory, and forget the file: at the end, and in the child of a fork. */
void osc_names_detach(void);

/* In the child of a fork: nobody else is at work here, whatever it looks like. */
void osc_names_unlock(void);

#endif
