/* SPDX-License-Identifier: Apache-2.0 */
/*
 * torch_hook.h - report why the torch source failed in a program: python/opscope/torch/hook.
 *
 * Only the program can tell whether there is a compiler, and whether its Python can load the
 * package. It must not print, so the process leaves a note of one line in the directory of the
 * run: .torch-failed.PID.
 *
 * Threading: one thread.
 */
#pragma once

#include <stdbool.h>

/* Report the first note in DIRECTORY in one line, and remove all notes. False: there is
 * none. */
bool osc_torch_report(const char *directory);
