/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redact.h - leave out of a trace what others need not know.
 *
 *   arguments  stay where they are numbers that analyses go by (correlation, sizes,
 *              ids, launch shapes) or names of collectives; shapes, values and stacks
 *              of the program go. Of the members of events only those stay that tie
 *              events to each other.
 *   paths      of /a/b/c.py(3) stays c.py(3), in all names. A path begins with a
 *              separator, ~, . or .. or has the suffix of a file; before "(3):", as
 *              in Python frames, it may have blanks. phase1/forward is none.
 *              Of the path of the trace itself the file stays as well.
 *   URLs       the last part of the path stays, or the host: neither users nor queries
 *   processes  of a command line the file of the program stays, "GPU 0" whole
 *   hosts      the host name that the file gives becomes "host" in all names
 *   members    of the file stay if they are of a short list: switches of the
 *              profiler that are numbers, versions, names and known numbers of devices,
 *              rank and size of the run
 *
 * "Names" are also categories, ids of processes, threads and asynchronous ranges that
 * are text, and all that metadata says.
 *
 * Times, names of operators and kernels, ids of processes and threads stay.
 *
 * Threading: not locked; one writer.
 */
#ifndef OSC_EXPORT_REDACT_H
#define OSC_EXPORT_REDACT_H

#include "base/status.h"
#include "base/strbuf.h"
#include "model/trace.h"

/* Change T, whose derived facts must be forgotten. On failure T is of no use. */
OSC_MUST_USE osc_status osc_redact(struct osc_trace *t);

/* Append NAME without its paths, and with HOST (may be empty) replaced. */
void osc_redact_name(struct osc_strbuf *out, struct osc_str name, struct osc_str host);

/* The same of NAME, what metadata calls a process: without the arguments of its program. */
void osc_redact_process(struct osc_strbuf *out, struct osc_str name, struct osc_str host);

#endif
