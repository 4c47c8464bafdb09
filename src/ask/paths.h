/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paths.h - which files operands stand for.
 *
 *   FILE or -  itself, whatever it is called
 *   DIRECTORY  a run: its WORKER[.NUMBER].pt.trace.json[.gz|.zst], or else all of it
 *              that end as traces do, or else, if one directory below it has
 *              WORKER[.NUMBER]... files, those
 *   NAME.osc.live, or a directory with a file `blocks`: a recording that was not ended;
 *              in a directory it counts where no NAME[.PART].osc takes it in
 *
 * Each directory that holds such files is a run of its own, at whatever depth.
 * Several are not mixed unasked: the message names them. Links are followed, but no
 * directory is looked into twice. Of a directory only regular files count: what a
 * pipe holds is read if it is named.
 *
 * Threading: one thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/strbuf.h"

/* Zeroed, there are none. */
struct osc_paths {
    char **all;     /* owned, each of them too; in order of the operands */
    bool *is_named; /* owned; it is an operand itself, not found in a directory */
    uint32_t n;
    size_t cap_all, cap_named;
};

/*
 * Add the files that the N OPERANDS stand for to P, and what there is to say about those
 * that are left out to NOTES, a line each. OSC_EINVAL: an operand is none.
 */
OSC_MUST_USE osc_status osc_paths_find(struct osc_paths *p, const char *const *operands,
                                       size_t n, struct osc_strbuf *notes, struct osc_err *err);
void osc_paths_fini(struct osc_paths *p);
