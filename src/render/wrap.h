/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sentences and commands on several lines of a terminal. Columns are those of a terminal.
 * Threading: no shared state.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "base/strbuf.h"

/*
 * Write TEXT from the INDENT-th column of a line that has begun, wrapped between words to ROOM
 * columns. A longer word is broken if BREAKS, else it has its own line. The last line is not
 * ended.
 */
void osc_wrap_words(struct osc_strbuf *out, struct osc_str text, size_t indent, size_t room,
                    bool breaks);

/*
 * Write the command TEXT from the INDENT-th column of a line that has begun, in ROOM columns as
 * far as its words allow. Further lines are indented twice as far, and each line but the last
 * ends in a backslash.
 */
void osc_wrap_command(struct osc_strbuf *out, struct osc_str text, size_t indent, size_t room);

/*
 * Write the message TEXT to a line that may have begun, in WIDTH columns; further lines are
 * indented. A text in quotes is on one line, so that it can be copied; a command that does not
 * fit is wrapped as one.
 */
void osc_wrap_message(struct osc_strbuf *out, struct osc_str text, size_t width);
