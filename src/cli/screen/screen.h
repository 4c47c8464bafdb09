/* SPDX-License-Identifier: Apache-2.0 */
/*
 * screen.h - the main facts about a trace: at most 40 lines, as wide as the
 * terminal up to 120 columns, and 80 columns wide without a terminal.
 *
 * Every number is a cell of a table; the screen only selects rows and adds shares. Each
 * section has its own limit of rows, and names and hints are cut to fit. A path in a command
 * is never cut, since commands are there to be copied, so such a line may be longer. A command
 * is left out if no lines are left for it.
 *
 * Threading: one thread.
 */
#pragma once

#include "cli/screen/screen_read.h"
#include "prose/phrase.h"

/* Append the screen to OUT. */
void osc_screen_write(const struct osc_screen *s, struct osc_strbuf *out);

/* Its sentences. */
extern const struct osc_prose osc_screen_prose;
