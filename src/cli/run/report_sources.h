/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_sources.h - check whether the sources of a run recorded anything. A source that was
 * there states that in the recording (source.itt, source.torch), because a hook that fails
 * prints nothing.
 *
 * Threading: one thread.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "model/trace.h"

/* What recordings say of sources, as bits. */
struct osc_sources_seen {
    unsigned loaded, recorded; /* sources that were there; those that recorded something */
    unsigned failed;           /* those that were there and could not record: a note told it */
    const char *why_idle; /* why no profile of torch began to record, if one ran; or NULL */
    bool is_idle;         /* a schedule or a flight recorder wrote nothing, not even this */
};

void osc_sources_seen_add(struct osc_sources_seen *seen, const struct osc_trace *t);

/*
 * Report in one line each which of the sources WANTED, bits, have recorded nothing of what was
 * SEEN, where the program PID and its children recorded. NAMED: those that the user named.
 * Another one that nothing used is normal, and only a collector that was loaded and recorded
 * nothing is reported.
 */
void osc_report_sources(const struct osc_sources_seen *seen, pid_t pid, unsigned wanted,
                        unsigned named);
