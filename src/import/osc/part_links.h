/* SPDX-License-Identifier: Apache-2.0 */
/*
 * part_links.h - find which of several files are parts of one recording without a gap.
 *
 * A recorder with a limit continues in the next part, and stores that at the end of the part
 * before (docs/format.md, reason 2). Such parts are read as one trace, so that open scopes, the
 * step and the clocks of devices continue across them. The last part may be an empty file that
 * has just begun. Windows of a schedule and dumps are separate spans, and so are parts between
 * which one is missing.
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

/* Whether the live directory LIVE has records that continue none of the N files at PATHS, of
 * which some may be NULL, because the last part among them is a window or dump that has ended.
 * Then these records are a span of their own. */
bool osc_part_is_left(const char *live, const char *const *paths, uint32_t n);
