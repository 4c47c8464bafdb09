/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redact.h - replace every text in a trace that is not known to be public.
 *
 *   texts      Names, categories, names of processes, threads and counters, text ids: a
 *              text that osc_redact_keeps() does not know becomes "name 17". Each distinct
 *              text has a number, counted from 1 in the order of the records.
 *   arguments  Kept: numbers that analyses use, launch shapes, and names of collectives
 *              (redacted as texts). Removed: shapes, values and stacks of the program.
 *              Of the members of events those that connect events are kept.
 *   the file   Of its members kept: switches of the profiler, versions, known numbers and
 *              names of devices, rank and size of the run. Its own name becomes "trace".
 *
 * Times and numbers of processes and threads are kept.
 *
 * Threading: not locked; one writer.
 */
#pragma once

#include "base/status.h"
#include "base/str.h"
#include "model/trace.h"

/*
 * Redact the N TRACES, whose derived facts must have been discarded. A text has the same
 * number in all of them. After a failure they must not be used.
 */
OSC_MUST_USE osc_status osc_redact(struct osc_trace *const *traces, uint32_t n);

/* The bytes FROM..TO - 1 of a text. */
struct osc_redact_part {
    uint32_t from, to;
};

/* Find the name of the host in TEXT, the name of a process that tells a device, too:
 * "RANK 3 DEVICE<node17>0:29:0:0 #0", "node17 /device:TPU:0". False: it is no such name. */
bool osc_redact_host(struct osc_str text, struct osc_redact_part *host);

/*
 * Number of bytes of TEXT to keep, from its start: all if each word is known; 0; or a prefix
 * that analyses need, such as "nn.Module: ".
 */
uint32_t osc_redact_keeps(struct osc_str text);
