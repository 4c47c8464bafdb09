/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paths.h - the files that operands stand for.
 *
 *   FILE or -  itself, whatever it is called
 *   DIRECTORY  the traces of the run in it (logdir.h); if it has none itself, those of the one
 *              run below it
 *   NAME.osc.live, or a directory with a file `blocks`: a recording that was not ended
 *
 * If there are several runs below a directory, none is chosen: the message names them. A pipe
 * is read only if it is named.
 *
 * Threading: one thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ask/folders/left_out.h"

/* Zeroed, there are none. */
struct osc_paths {
    char **all;     /* owned, and so is each element; in order of the operands */
    bool *is_named; /* owned; the path is an operand itself, not found in a directory */
    uint32_t n;
    size_t cap_all, cap_named;
    struct osc_left_out left; /* owned; what directories have besides */
};

/*
 * Add to P the files that the N OPERANDS stand for, and to NOTES a line about each file that is
 * left out. OSC_EINVAL: an operand stands for no trace.
 */
OSC_MUST_USE osc_status osc_paths_find(struct osc_paths *p, const char *const *operands,
                                       size_t n, struct osc_strbuf *notes, struct osc_err *err);
void osc_paths_fini(struct osc_paths *p);
