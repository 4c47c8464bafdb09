/* SPDX-License-Identifier: Apache-2.0 */
/*
 * itt.h - the ITT collector: the library that clients' static parts load, and the functions
 * that it gives them.
 *
 * A client names our library in INTEL_LIBITTNOTIFY64. Its static part loads it at the
 * first event, on any thread, and calls __itt_api_init() with a list of pointers to fill. A
 * process has several static parts (PyTorch's, oneDNN's, oneTBB's, ...); each calls once.
 *
 *     tasks of PyTorch     operators if called "namespace::name", else annotations; a task that
 *                          its mark() begins and ends at once: an instant
 *     tasks of others      scopes, with the domain as an argument
 *     overlapped, regions, frames, events   ranges with an id
 *     markers, marks, relations, groups     instants
 *
 *   - The collector starts the recorder with its defaults, unless OPSCOPE or
 *     OPSCOPE_SOURCES excludes it: then all the client's functions do nothing.
 *   - "source.itt" in the metadata of the recording says that a static part called,
 *     its version, and how many functions it was given; "source.itt.2" is the second.
 *   - Not provided: sync_* (too many), heap_*, tracks, histograms, stitching, modules.
 *
 * Threading: everything may be called from any thread.
 */
#pragma once

#include "sources/itt/itt_abi.h"

/* A function that clients may call. */
struct osc_itt_binding {
    const char *name; /* without "__itt_" */
    osc_itt_function function;
};

/* The functions of each file; a NULL name ends a list. */
extern const struct osc_itt_binding osc_itt_tasks[];
extern const struct osc_itt_binding osc_itt_ranges[];
extern const struct osc_itt_binding osc_itt_values[];
extern const struct osc_itt_binding osc_itt_control[];

/* Look up PyTorch's mark() in the library that contains the static part G. */
void osc_itt_find_mark(const struct osc_itt_global *g);

/* Take over a counter that a static part made before it loaded us. */
void osc_itt_counter_adopt(struct osc_itt_counter *c);

/* The version string that clients get. */
const char *osc_itt_version(void);
