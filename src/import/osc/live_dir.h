/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live_dir.h - a live directory (wire/live.h) as it was at one moment.
 *
 * What was recorded and not yet written lies there, of a process that still runs or of
 * one that was killed. It is copied before the file beside it is read: what is written
 * to the file in between is then found twice, and not not at all.
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
    bool is_running; /* its process still lives */
    struct osc_live_header header;
    struct osc_live_thread *threads; /* owned; header.n_threads at most */
    size_t n_threads;
    struct osc_block *blocks; /* owned; those in use, by seq */
    size_t n_blocks, cap_blocks;
    bool is_lost;       /* not there, though its directory is: `blocks` is missing or blank */
    bool is_cut;        /* the file `blocks` is shorter than it says */
    bool names_are_cut; /* the same of `strings`, or it is missing */
    bool names_are_bad; /* `strings` is damaged at its beginning */
    uint64_t n_bad_blocks, n_bad_records; /* left out: damaged */
    char *strings;                        /* owned; the string log from its first byte on */
    size_t strings_bytes;
    unsigned char *standing; /* owned; segments of copies, or NULL */
    size_t standing_bytes;
};

/*
 * Copy what lies in the directory PATH. OSC_OK with is_there false: there is no such
 * directory, or nothing of ours in it, or not yet. OSC_EFORMAT: damaged, or of a newer version.
 */
OSC_MUST_USE osc_status osc_live_dir_open(struct osc_live_dir *l, const char *path,
                                          struct osc_err *err);
/* Where the live directory of the part PART at PATH would be, to be freed; NULL: no memory. */
OSC_MUST_USE char *osc_live_dir_path(const char *path, uint32_t part);

/* Where the part behind the part PART at PATH would be, to be freed; NULL: no memory. */
OSC_MUST_USE char *osc_live_dir_next_part(const char *path, uint32_t part);

/*
 * Whether behind the part PART at PATH there is another one of RECORDING, if only the
 * empty file that it begins as. OSC_ENOMEM.
 */
OSC_MUST_USE osc_status osc_live_dir_part_follows(const char *path, uint32_t part,
                                                  const uint64_t recording[2], bool *follows);

void osc_live_dir_close(struct osc_live_dir *l);

struct osc_file;
struct osc_file_gap;

/* Whether GAP of the file F is a chunk that was being written when L was copied: what it holds
 * still lies in L. */
bool osc_live_dir_has(const struct osc_live_dir *l, const struct osc_file *f,
                      const struct osc_file_gap *gap);

/* One more than the last slot of B that a call may have reserved. */
uint32_t osc_live_dir_end(const struct osc_block *b);

/* The first slot of B, a block of L, that a file lacks which has WRITTEN of it, and that is
 * not of a warm-up; osc_live_dir_end() or more: there is none. */
uint32_t osc_live_dir_first(const struct osc_live_dir *l, const struct osc_block *b,
                            uint32_t written);
