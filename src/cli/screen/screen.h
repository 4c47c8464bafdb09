/* SPDX-License-Identifier: Apache-2.0 */
/*
 * screen.h - what a trace says in ten seconds: at most 40 lines of 80 columns.
 *
 * Every number is a cell of a table; the screen only picks rows and adds shares. Each
 * section is cut to a number of rows of its own, and names and hints to what fits. A path
 * is never cut in a command, which is there to be copied, and so may be longer than a line;
 * a command for which no lines are left is left out.
 *
 * Threading: one thread.
 */
#pragma once

#include "cli/screen/screen_read.h"

/* Append the screen to OUT. */
void osc_screen_write(const struct osc_screen *s, struct osc_strbuf *out);
