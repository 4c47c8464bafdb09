/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filename.h - what the name of a trace file says.
 *
 *   WORKER[.NUMBER].pt.trace.json[.gz|.zst]   a log directory of torch.profiler
 *   NAME[.PART].osc                           a recording, and the parts it was cut into
 *   rank-N, rankN, rank_N, …_N                whose rank it is, as people name files
 *
 * The worker is the shortest that fits, the number orders the recording windows (spans) of
 * a worker. Metadata inside the file goes before its name.
 *
 * Threading: pure functions.
 */
#pragma once

#include <stdbool.h>

#include "base/str.h"

struct osc_filename {
    struct osc_str worker; /* borrowed from the name; may be empty */
    struct osc_str number; /* digits, without leading zeros but for "0"; or empty */
    bool is_logdir;        /* it is WORKER[.NUMBER].pt.trace.json… */
    bool is_recording;     /* it is NAME[.PART].osc: worker and number are those */
    bool is_trace;         /* it ends as a file of traces does */
    bool has_rank;
    int32_t rank;
};

/* Take NAME, the last component of a path or a whole path, apart. */
struct osc_filename osc_filename_parse(const char *name);

/* Numbers by value: negative, zero, positive; none stands first. */
int osc_filename_compare_numbers(struct osc_str a, struct osc_str b);
