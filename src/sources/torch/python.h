/* SPDX-License-Identifier: Apache-2.0 */
/*
 * python.h - Python calls around operators.
 *
 * A profile function of the interpreter (PyEval_SetProfile) turns every call and return of the
 * starting thread, or of all Python threads at the start, into a scope, named as torch.profiler
 * does: "file(line): function", "<built-in function len>", "nn.Module: Linear_0". An operator
 * carries the names of the calls around it.
 *
 *   - The functions of the interpreter are looked up at run time, so that the library can be
 *     built and loaded without Python.
 *   - Names and stacks are made once and kept until the end of the session, in tables of at
 *     most 32 MiB; calls that do not fit are still recorded, but cost more time.
 *   - No object of the program is kept alive. A module at the address of a dead one gets its
 *     number, as in torch.
 *   - The interpreter has one slot per thread: a profile function that the program sets
 *     meanwhile replaces ours.
 *
 * A thread other than the starting one records its open calls at its next call or return,
 * because only the thread itself can record them.
 *
 * Threading: start, stop and python_begin_here() from one thread at a time, with the
 * interpreter's lock; python_stack() from any, without.
 */
#pragma once

#include "opscope/record.h"

namespace osc_torch
{

/* Record the calls of this thread, or with ALL_THREADS of all threads, including those that are
 * open. PREFIXES, each ended by a newline, are cut from file names. OWN is such a list, too:
 * functions of files whose names begin with its first line are not recorded, nor what they
 * call; in the files of its other lines, functions of Python that they call are. With PLACES,
 * stacks have the lines that are executed, modules have paths as argument `Module path`, and a
 * call that begins while recording is paused is in the stacks of what it calls. With TENSORS,
 * the first call of each module, and each optimizer's first step, tell what tensors they hold.
 * False: there is no Python. */
bool python_start(const char *prefixes, const char *own, bool all_threads, bool places,
                  bool tensors);

/* If all threads are recorded, record the calling thread, too, which Python has just started,
 * or in which something else has recorded calls until now. */
void python_begin_here();

/* Stop; open calls of this thread end now, if it started. */
void python_stop();

/* The Python calls that are open in this thread, innermost first, each followed by a semicolon;
 * 0: none. */
osc_name python_stack();

/* In recorder.cpp: begin and end a range of this thread. WHO is an address that identifies
 * it. */
bool range_begin(enum osc_scope_kind kind, osc_name name, const void *who);
void range_end(const void *who);

/* In recorder.cpp: whether WHO is the innermost range of this thread that is recorded. */
bool is_innermost(const void *who);

} // namespace osc_torch
