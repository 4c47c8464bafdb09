/* SPDX-License-Identifier: Apache-2.0 */
/*
 * python.h - the calls of Python, around the operators that they make.
 *
 * A profile function of the interpreter (PyEval_SetProfile) turns every call and return
 * of the thread that started it, or of all threads that Python has then, into a scope, named
 * as torch.profiler names them:
 * "file(line): function", "<built-in function len>", "nn.Module: Linear_0". Operators
 * take the names of the calls around them along.
 *
 *   - Every function of the interpreter is looked up when it is needed, so that the
 *     object needs no Python to be built and loads without one.
 *   - Names and stacks are made once and kept until the end of the session, in tables of
 *     at most 26 MiB; what finds no room in them is recorded, and costs more time.
 *   - No object of the program lives longer than without; a module at the address of one
 *     that has died has its number, as in torch.
 *   - The interpreter has one slot a thread: who sets a profile function of his own
 *     meanwhile ends ours.
 *
 * Other threads tell of what is open in them at their next call or return, which is theirs to
 * record.
 *
 * Threading: start and stop from one thread at a time, with the interpreter's lock;
 * python_stack() from any, without.
 */
#pragma once

#include "opscope/record.h"

namespace osc_torch
{

/* Record the calls of this thread from now on, or those of ALL_THREADS, those that are open
 * included. PREFIXES end with newlines: what is cut from the names of files. False: there is no
 * Python. */
bool python_start(const char *prefixes, bool all_threads);

/* No more; open calls of this thread end now, if it started. */
void python_stop();

/* The calls around what this thread does, innermost first, each with a semicolon; 0: none. */
osc_name python_stack();

/* Of recorder.cpp: a range of this thread, and the end of it, by an address of its own. */
bool range_begin(enum osc_scope_kind kind, osc_name name, const void *who);
void range_end(const void *who);

} // namespace osc_torch
