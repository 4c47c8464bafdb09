/* SPDX-License-Identifier: Apache-2.0 */
/*
 * share.h - one of several shares of files, of which each process reads one.
 *
 * Files are shared out by size, in the same way in every process that lists the same ones.
 * Parts of one recording stay together.
 *
 * Threading: plain data.
 */
#pragma once

#include <stdint.h>

#define OSC_SHARES_MAX 65536

struct osc_share {
    uint32_t number; /* from 0 on */
    uint32_t n;      /* 0: not shared out, as 1 */
};

/* The origin of time among all traces, in nanoseconds of its clock, of trace PART of file FILE
 * of all files. */
struct osc_origin_of {
    uint32_t file, part;
    int64_t origin_ns;
};
