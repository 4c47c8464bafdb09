/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parts.h - tables in two steps: parts of some traces, and the table of all parts.
 *
 * All of these functions return the exit code; if it is not OSC_EXIT_DONE, a message has been
 * printed.
 *
 * Threading: one thread.
 */
#pragma once

#include "ask/join.h"
#include "cli/show.h"

/* The origins of time of traces, sorted by file and part. */
struct osc_origins {
    struct osc_origin_of *all; /* owned */
    uint32_t n;
};

/*
 * Append to OUT the file of parts (ask/join.h) for the question K, which was checked, about the
 * share SHARE of the traces of ARGS. *HAS_FAILED: a file of a directory could not be read.
 * ORIGINS, if not NULL, are those of all traces.
 */
int osc_parts_make(const struct osc_args *args, struct osc_asked *k, struct osc_share share,
                   const struct osc_origins *origins, struct osc_strbuf *out, bool *has_failed);

/* Print the table of the parts of J, to which all files were added. ARGS says how much memory
 * may be used. */
int osc_parts_show(struct osc_joined *j, const struct osc_args *args);

/* If the question is about times, which count from the first event of all traces: append to OUT
 * parts that only place the traces of a share; find in ORIGINS those of the traces of J, to
 * which all such parts were added. */
int osc_parts_make_places(const struct osc_args *args, struct osc_share share,
                          struct osc_strbuf *out);
int osc_parts_origins(struct osc_joined *j, struct osc_origins *origins);
