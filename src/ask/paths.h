/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paths.h - the files that operands stand for.
 *
 *   FILE or -  itself, whatever it is called
 *   DIRECTORY  a run: its files WORKER[.NUMBER].pt.trace.json[.gz|.zst]; if it has none, all
 *              files that end as traces do; if it has none of these, the WORKER[.NUMBER]...
 *              files of the one directory below it that has some
 *   NAME.osc.live, or a directory with a file `blocks`: a recording that was not ended;
 *              in a directory it counts only if there is no NAME[.PART].osc with which it
 *              is read
 *
 * Each directory that has such files is a run of its own, at any depth. If there are several,
 * none is chosen: the message names them. Links are followed, but no directory is searched
 * twice. In a directory only regular files count; a pipe is read only if it is named.
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
    char **all;     /* owned, and so is each element; in order of the operands */
    bool *is_named; /* owned; the path is an operand itself, not found in a directory */
    uint32_t n;
    size_t cap_all, cap_named;
};

/*
 * Add to P the files that the N OPERANDS stand for, and to NOTES a line about each file that is
 * left out. OSC_EINVAL: an operand stands for no trace.
 */
OSC_MUST_USE osc_status osc_paths_find(struct osc_paths *p, const char *const *operands,
                                       size_t n, struct osc_strbuf *notes, struct osc_err *err);
void osc_paths_fini(struct osc_paths *p);
