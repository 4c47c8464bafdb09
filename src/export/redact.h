/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redact.h - replace in a trace every text that is not known to be public.
 *
 *   texts      Names, categories, names of processes, threads and counters, ids that are
 *              text: what osc_redact_keeps() does not know becomes "name 17", with a
 *              number for each distinct text, counted from 1 in order of the records.
 *   arguments  Those stay that are numbers analyses go by, launch shapes, and names of
 *              collectives, a text like any other. Shapes, values and stacks of the program
 *              go. Of the members of events those stay that tie events to each other.
 *   the file   Of its members those stay that are switches of the profiler, versions, known
 *              numbers and names of devices, rank and size of the run. Its own name becomes
 *              "trace".
 *
 * Times and numbers of processes and threads stay.
 *
 * Threading: not locked; one writer.
 */
#pragma once

#include "base/status.h"
#include "base/str.h"
#include "model/trace.h"

/*
 * Change the N TRACES, whose derived facts must be forgotten; a text has one number in all
 * of them. On failure they are of no use.
 */
OSC_MUST_USE osc_status osc_redact(struct osc_trace *const *traces, uint32_t n);

/*
 * How many bytes of TEXT stay, from its start: all, where each word of it is known; none;
 * or a prefix that analyses go by, such as "nn.Module: ".
 */
uint32_t osc_redact_keeps(struct osc_str text);
