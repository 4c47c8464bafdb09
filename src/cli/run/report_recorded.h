/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_recorded.h - read what a run has recorded, once, and report which of its sources and
 * which names of --sample are not in it.
 *
 * The user waits for this: large recordings are not read, and nothing is said of them.
 *
 * Threading: one thread.
 */
#pragma once

#include <sys/types.h>

struct osc_recorded_asked {
    const char *run_id;   /* recordings of other runs are left out */
    pid_t pid;            /* of the program, for messages */
    unsigned sources;     /* bits: those to report if they recorded nothing */
    unsigned named;       /* those of them that the user named */
    const char *why_idle; /* for osc_sources_seen */
    const char *sample;   /* a list as of --sample; NULL: none */
};

/* Report in one line each what ASKED wants and the recordings in DIRECTORY lack. */
void osc_report_recorded(const char *directory, const struct osc_recorded_asked *asked);
