/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peek.h - whether a file whose name is that of a trace is one, by the beginning of its text.
 *
 * Directories that are searched have many files called *.json: configurations, reports, states
 * of a training. This tells them apart without reading them.
 *
 * Threading: thread-safe.
 */
#pragma once

#include <stdbool.h>

/*
 * Whether the first 64 KiB of the text of the file PATH, inflated if it is compressed, begin as
 * the reader of such files expects (osc_reader.begins). A file that cannot be read or inflated
 * counts as a trace, so that reading it reports why.
 */
bool osc_import_begins_like_trace(const char *path);
