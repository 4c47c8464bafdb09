/* SPDX-License-Identifier: Apache-2.0 */
/*
 * open_input.h - open a path: a file, standard input, or the live directory of a recording.
 *
 * Threading: as import/bytes/input.h.
 */
#pragma once

#include "import/bytes/input.h"

/*
 * Open PATH; "-" is standard input. For a live directory (wire/live.h), or an empty file next
 * to one, open the file `blocks`; IN->path is then the directory. Other directories and
 * devices are refused. May also fail with OSC_ENOMEM.
 */
OSC_MUST_USE osc_status osc_input_open(struct osc_input *in, const char *path,
                                       struct osc_err *err);
/*
 * Whether the live directory PATH, which may be any directory, has no data: its process is
 * still opening the recording, or ended before it had. Without `strings` no name was ever
 * made, and without the magic of `blocks` nothing was recorded.
 */
bool osc_live_is_blank(const char *path);
