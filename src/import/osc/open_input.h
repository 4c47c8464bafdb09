/* SPDX-License-Identifier: Apache-2.0 */
/*
 * open_input.h - open a path: a file, standard input, or the live directory of a recording.
 *
 * Threading: as import/bytes/input.h.
 */
#pragma once

#include "import/bytes/input.h"

/*
 * Open PATH, "-" is standard input. Of a live directory (wire/live.h) the file `blocks` is
 * opened, also for an empty file that it lies beside, and IN->path is then the directory;
 * any other directory and a device are refused. OSC_ENOMEM.
 */
OSC_MUST_USE osc_status osc_input_open(struct osc_input *in, const char *path,
                                       struct osc_err *err);
/*
 * Whether the live directory PATH, which may be any directory, holds nothing: its process is
 * opening the recording, or was gone before it had. Without `strings` no name was ever made,
 * and without the magic of `blocks` nothing recorded.
 */
bool osc_live_is_blank(const char *path);
