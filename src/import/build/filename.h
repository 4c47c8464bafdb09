/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filename.h - what the name of a trace file means.
 *
 *   WORKER[.NUMBER].pt.trace.json   a log directory of torch.profiler
 *   NAME[.PART].osc                 a recording, and its parts; NAME may be HOST.PID.SECONDS.N,
 *                                   as the recorder chooses it
 *   STEM.SUFFIX                     a trace, if a reader has files of this suffix (reader.h)
 *
 * Each may end in .gz or .zst.
 *
 * The rank is the first of these that there is:
 *
 *   rank-N, rankN, rank_N          in the name of the file
 *   rank-N/, rankN/, rank_N/       the name of the directory
 *   N/ below attempt_M/            directories as torchrun makes them
 *   workerN, fit-...-N             a worker of a log directory; test-, validate- and predict-
 *                                  likewise, as Lightning names them
 *   ..._N                          the end of the name, up to three digits
 *
 * The worker is the shortest match; the number orders the recording windows (spans) of a
 * worker. Metadata inside the file takes precedence over its name.
 *
 * Threading: pure functions.
 */
#pragma once

#include <stdbool.h>

#include "base/str.h"

struct osc_reader;

struct osc_filename {
    const struct osc_reader *reader; /* of files with this suffix; NULL: it is no trace */
    struct osc_str stem;   /* borrowed, with the directory, without suffixes of compression and
                              format */
    struct osc_str worker; /* borrowed from the name; may be empty */
    struct osc_str number; /* digits, without leading zeros except in "0"; or empty */
    bool is_logdir;        /* has the form WORKER[.NUMBER].pt.trace.json… */
    bool is_recording;     /* has the form NAME[.PART].osc, as worker and number */
    bool has_rank;
    int32_t rank;
};

/* Parse NAME, the last component of a path or a whole path. */
struct osc_filename osc_filename_parse(const char *name);

/* Get the rank after which the directory PATH is called. False: it is called otherwise. */
bool osc_filename_folder_rank(struct osc_str path, int32_t *rank);

/* Compare numbers by value: negative, zero, positive; an empty one comes first. */
int osc_filename_compare_numbers(struct osc_str a, struct osc_str b);
