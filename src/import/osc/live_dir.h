/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live_dir.h - a copy of a live directory (wire/live.h) at one moment.
 *
 * It contains the records that were not yet written to the file, of a process that is running
 * or was killed. It is copied before the file next to it is read: records written in between
 * are then found twice instead of being missed.
 *
 * Threading: not locked.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "wire/live.h"

/* Zeroed, there is none. */
struct osc_live_dir {
    bool is_there;
    bool is_running; /* the process still records into it */
    struct osc_live_header header;
    struct osc_live_thread *threads; /* owned; header.n_threads at most */
    size_t n_threads;
    struct osc_block *blocks; /* owned; blocks in use, sorted by seq */
    size_t n_blocks, cap_blocks;
    bool is_lost;       /* unreadable although the directory exists: `blocks` is missing or
                         * blank */
    bool is_cut;        /* the file `blocks` is shorter than its header says */
    bool names_are_cut; /* `strings` is too short, or missing */
    bool names_are_bad; /* the start of `strings` is damaged */
    uint64_t n_bad_blocks, n_bad_records; /* damaged and left out */
    char *strings;                        /* owned; the string log from its first byte */
    size_t strings_bytes;
    unsigned char *standing; /* owned; segments of copies, or NULL */
    size_t standing_bytes;
};

/*
 * Copy the directory PATH. OSC_OK with is_there false: it does not exist, or has no recording,
 * or not yet. OSC_EFORMAT: it is damaged, or of a newer version.
 */
OSC_MUST_USE osc_status osc_live_dir_open(struct osc_live_dir *l, const char *path,
                                          struct osc_err *err);
/* The path for the live directory of part PART at PATH, to be freed; NULL: out of memory. */
OSC_MUST_USE char *osc_live_dir_path(const char *path, uint32_t part);

/* The path for the part after part PART at PATH, to be freed; NULL: out of memory. */
OSC_MUST_USE char *osc_live_dir_next_part(const char *path, uint32_t part);

/*
 * Whether part PART at PATH is followed by another part of RECORDING, which may still be an
 * empty file. Fails only with OSC_ENOMEM.
 */
OSC_MUST_USE osc_status osc_live_dir_part_follows(const char *path, uint32_t part,
                                                  const uint64_t recording[2], bool *follows);

void osc_live_dir_close(struct osc_live_dir *l);

struct osc_file;
struct osc_file_gap;

/* Whether GAP of the file F is a chunk that was being written when L was copied, so that its
 * records are still in L. */
bool osc_live_dir_has(const struct osc_live_dir *l, const struct osc_file *f,
                      const struct osc_file_gap *gap);

/* One more than the last slot of B that a call may have reserved. */
uint32_t osc_live_dir_end(const struct osc_block *b);

/* The first slot of B, a block of L, that is not in the file, which has WRITTEN slots of it,
 * and is not part of a warm-up. If it is osc_live_dir_end() or more, there is none. */
uint32_t osc_live_dir_first(const struct osc_live_dir *l, const struct osc_block *b,
                            uint32_t written);
