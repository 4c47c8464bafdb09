/* SPDX-License-Identifier: Apache-2.0 */
/*
 * part_files.h - find the files of a recording: NAME.osc, NAME.2.osc, NAME.3.osc, ...
 *
 * The first ones may be gone, for --limit-size deletes the oldest, and files of those names may
 * be of an earlier recording. So each file is asked of which recording it is.
 *
 * Threading: any thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Whether ENTRY of the directory DIR, a descriptor, is a part of RECORDING, which writes to
 * OUT, the path of NAME.osc; *PART is its number. */
bool osc_part_files_is(const char *out, const uint64_t recording[2], int dir, const char *entry,
                       uint32_t *part);

/* The number of the last part of RECORDING in DIRECTORY, in which OUT is; 0: there is none. */
uint32_t osc_part_files_last(const char *directory, const char *out,
                             const uint64_t recording[2]);
