/* SPDX-License-Identifier: Apache-2.0 */
/*
 * torch_hook.h - what became of torch in a program: python/opscope/torch/hook.
 *
 * Whether there is a compiler, and whether this Python can load the package, is known only
 * there. Nothing may be printed there, so a process leaves a note in the directory of the
 * run: .torch-failed.PID, of one line.
 *
 * Threading: one thread.
 */
#pragma once

#include <stdbool.h>

/* Tell the first note in DIRECTORY, in one line, and remove them all. False: there is none. */
bool osc_torch_report(const char *directory);
