/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pairs.h - joins begins and ends that are separate records into ranges.
 *
 * B and E pair by process and thread, innermost first; b and e by process, category and id;
 * both in the order of the file. An E of Chrome's that names another range than the innermost
 * one is counted (mismatched_end): it ends the one it names if that is open among the innermost
 * 256. If none is, it ends the innermost one if one name begins with the other, as names are
 * cut, or if no end of the file has the name of a begin; otherwise it is left out. Arguments of
 * the end are added to those of the begin. An end at OSC_NO_TIME means that the time is
 * unknown: the range counts as still open, but not a call of Python, for a process ends within
 * calls: that of _exit(), those of threads that wait. Records without a counterpart are
 * counted: open_range, unmatched_begin, unmatched_end; but not ends in a recording of opscope
 * that may have left their begins out: any where it began late, asynchronous ones in windows of
 * a schedule, in dumps of a flight recorder, and after a first pause. A begin with a
 * duration has its end already.
 *
 * Threading: not locked.
 */
#pragma once

#include "model/trace.h"

/* End row I of K, a begin, at END_NS; irregularities are counted in F. */
void osc_pairs_close(struct osc_findings *f, struct osc_chunk *k, uint32_t i, int64_t end_ns);

/* Give every begin of T its duration. */
OSC_MUST_USE osc_status osc_pairs_match(struct osc_trace *t);
