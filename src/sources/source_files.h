/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_files.h - what sources need on this machine, and whether it can be loaded.
 *
 * Threading: one thread, which may fork.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define OSC_COLLECTOR "libopscope-collect.so"
#define OSC_LIBRARY   "libopscope.so.0"

/* Store the path of the collector, beside the command or where it is installed, in PATH. */
bool osc_find_collector(char *path, size_t room);

/* The same for libopscope, for programs that load it themselves (opscope/stub.h). */
bool osc_find_library(char *path, size_t room);

/* The same for the directory that makes Python wait for torch, which is in a build directory
 * and in the Python package that contains the command. */
bool osc_find_torch_hook(char *path, size_t room);

/* Try to load LIBRARY in a process of its own; if that fails, WHY is the loader's message. */
bool osc_is_loadable(const char *library, char *why, size_t room);

/* Try to load the N LIBRARIES in a process of its own, until one is. */
bool osc_is_one_loadable(const char *const *libraries, size_t n);

/* Whether LIBRARY can be loaded, and its file does not contain WORD. */
bool osc_library_lacks(const char *library, const char *word);

/* Store the path of the program NAME, as execvp() finds it. False: there is none. */
bool osc_find_program(const char *name, char *path, size_t room);

/* Run the program ARGV[0], a path, with the arguments that follow, up to NULL, and store the
 * beginning of what it prints in TEXT. False: it cannot be run, or ends with another status
 * than 0; TEXT is undefined then. */
bool osc_read_output(const char *const *argv, char *text, size_t room);
