/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pairs.h - begins and ends, written as two records, become one range.
 *
 * B and E pair by process and thread, innermost first; b and e by process,
 * category and id. Order is that of the file. Arguments of the end join those of
 * the begin. An end whose time is OSC_NO_TIME says that nobody knows when: the range is
 * as one that stays open. What stays alone is counted: open_range, unmatched_begin,
 * unmatched_end. A begin that has a duration already has had its end.
 *
 * Threading: not locked.
 */
#pragma once

#include "model/trace.h"

/* Row I of K, a begin, ends at END_NS; what is odd about that goes to F. */
void osc_pairs_close(struct osc_findings *f, struct osc_chunk *k, uint32_t i, int64_t end_ns);

/* Give every begin of T its duration. */
OSC_MUST_USE osc_status osc_pairs_match(struct osc_trace *t);
