/* SPDX-License-Identifier: Apache-2.0 */
/*
 * foreign.h - files that are no trace, or a trace that no reader reads, by name.
 *
 * People pass what they have: the archive that they downloaded, the report of another
 * profiler, the pointer that Git LFS left. One sentence says what it is and what to do. A file
 * is known by its first bytes; its name counts only where these tell nothing. Readers are asked
 * first (import.c). A new format is one entry in foreign.c.
 *
 * Threading: pure function.
 */
#pragma once

#include "base/status.h"
#include "base/str.h"

/* The start of a file. */
struct osc_foreign_file {
    const char *path;
    struct osc_str raw;  /* as stored */
    struct osc_str text; /* inflated, if it is compressed in a way that is read; else as raw */
};

/* OSC_EFORMAT, and ERR says what F is, if that is known and no reader reads it; else OSC_OK. */
OSC_MUST_USE osc_status osc_foreign_check(const struct osc_foreign_file *f,
                                          struct osc_err *err);
