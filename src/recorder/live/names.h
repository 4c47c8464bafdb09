/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names.h - one number for each distinct string that the program records.
 *
 * Strings lie in the log of wire/live.h: mapped memory that becomes the file `strings`
 * when a recording is opened. A name is the offset of its entry, so it is valid in every
 * recording of this process and of its forked children, whenever it was made.
 *
 *   - Entries are appended by advancing osc_live_strings.used_bytes. The length is written
 *     last, so a reader that sees it sees the bytes.
 *   - A table in private memory finds strings: levels of slots, each larger than the one
 *     before. A string has a few slots in each level and takes the first free one, so two
 *     threads with the same string meet in the same slot.
 *   - The thread that needs room grows the log, with signals blocked. If that fails, or another
 *     thread takes too long to grow it, the call returns no name and the loss is counted.
 *   - The log grows to 256 MiB, but while nothing records only to 16 MiB.
 *
 * Threading: osc_names_add() from any thread and from signal handlers; the others by one thread
 * at a time; osc_names_open() and osc_names_detach() may run concurrently with osc_names_add().
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#define OSC_NAME_BYTES_MAX (16u << 20)

/*
 * The name of LEN bytes at S; 0: none, see opscope/record.h. Losses are added to *N_FULL (no
 * room) or *N_TOO_BIG (cut). Leaves errno unchanged.
 */
uint32_t osc_names_add(const char *s, size_t len, uint64_t *n_full, uint64_t *n_too_big);

/* Longer names are in no category. */
#define OSC_NAME_IN_CATEGORY_MAX 1000u

/* Like osc_names_add(), for a name in the category that is called CATEGORY, a name: another one
 * than that of the same bytes elsewhere. LEN is OSC_NAME_IN_CATEGORY_MAX at most. */
uint32_t osc_names_add_in(uint32_t category, const char *s, size_t len, uint64_t *n_full);

/* The LEN bytes of NAME; none if it is no name. Good until the process ends. Any thread and
 * handler. */
const char *osc_names_text(uint32_t name, size_t *len);

/* Names are for a recording from now on, or are not. Any thread and handler. */
void osc_names_want(bool want);

/* Move the log with its content to a new file `strings` in the directory DIR_FD.
 * OSC_ECANCELED: another call is growing the log, perhaps one that this handler interrupted;
 * try again later. */
OSC_MUST_USE osc_status osc_names_open(int dir_fd, const uint64_t recording[2]);

/* Continue in private memory and forget the file; at the end, and in the child of a fork. */
void osc_names_detach(void);

/* Call in the child of a fork: releases the lock, which another thread of the parent may have
 * held. */
void osc_names_unlock(void);
