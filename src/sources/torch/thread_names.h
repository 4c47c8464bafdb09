/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_names.h - the names of Python's threads, which the system does not know.
 *
 * Threading: from any thread.
 */
#pragma once

#include <sys/types.h>

#include <string>

namespace osc_torch
{

/* The name of the calling thread: what Python told of it (recorder.h), or else the system's;
 * "": none. */
std::string thread_name();

/* In recorder.cpp: record the name of THREAD anew, if it is recorded. */
void thread_renamed(pid_t thread);

} // namespace osc_torch
