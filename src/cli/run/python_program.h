/* SPDX-License-Identifier: Apache-2.0 */
/*
 * python_program.h - whether a command runs Python.
 *
 * A run that recorded nothing then says how to record PyTorch. It is a guess from the words
 * of the command: a shell script that starts Python is not found.
 *
 * Threading: one thread.
 */
#pragma once

#include <stdbool.h>

/*
 * Whether ARGV, which ends with NULL, names an interpreter (`python3`, also behind `env` or
 * `nohup`), a source file (`train.py`), or a script whose first line names the interpreter
 * (`torchrun`; without a slash it is found in PATH).
 */
bool osc_python_program_is(const char *const *argv);
