/* SPDX-License-Identifier: Apache-2.0 */
/*
 * part_links.h - which of several files are parts of one recording without a gap.
 *
 * A recorder with a limit goes on in the next part, and says so at the end of the one
 * before (docs/format.md, reason 2). Such parts are read as one: what was open, which step
 * ran, what a device showed is then what it was. The last may be an empty file, only just
 * begun. Parts that are windows of a schedule or dumps are spans of their own, and so are those
 * between which one is missing.
 *
 * Threading: thread-safe.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* For each path the one that continues it, and the one it continues: index + 1; 0: none.
 * Owned; zeroed, there are none. */
struct osc_part_links {
    uint32_t *after, *before;
};

/* Find the links among the N files at PATHS. A file that is unreadable or not a recording has
 * none. OSC_ENOMEM: call osc_part_links_fini() as well. */
OSC_MUST_USE osc_status osc_part_links_find(struct osc_part_links *l, const char *const *paths,
                                            uint32_t n);
void osc_part_links_fini(struct osc_part_links *l);

/* Whether something is left in the live directory LIVE that none of the N files at PATHS,
 * entries of which may be NULL, goes on with: the last part among them is a window or dump
 * that ended. Then it is a span of its own. */
bool osc_part_is_left(const char *live, const char *const *paths, uint32_t n);
