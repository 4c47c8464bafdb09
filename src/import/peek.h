/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peek.h - whether a file called *.json is a trace, by the beginning of its text.
 *
 * Directories that are searched have many files of that name: configurations, reports, states
 * of a training. This tells them apart without reading them.
 *
 * Threading: thread-safe.
 */
#pragma once

#include <stdbool.h>

/*
 * Whether the text of the file PATH, inflated if it is compressed, begins like a trace: it
 * names trace events or members of such files in its first 64 KiB. A file that cannot be read
 * or inflated counts as a trace, so that reading it reports why.
 */
bool osc_import_begins_like_trace(const char *path);
