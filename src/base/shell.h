/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shell.h - words of commands that are there to be typed.
 *
 * Threading: pure functions; the buffer is the caller's.
 */
#pragma once

#include "base/strbuf.h"

/*
 * Append WORD as a shell reads it, in quotes if it has to be: in one line, with control
 * characters and bytes of no text as $'\x1b'.
 */
void osc_shell_add_word(struct osc_strbuf *out, const char *word);
