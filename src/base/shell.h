/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shell.h - quoting of words in commands for a shell.
 *
 * Threading: pure functions; the buffer is the caller's.
 */
#pragma once

#include "base/strbuf.h"

/*
 * Append WORD, quoted if necessary: on one line, with control characters and invalid UTF-8 as
 * $'\x1b'.
 */
void osc_shell_add_word(struct osc_strbuf *out, const char *word);

/* Append TEXT as a string of an expression of SQL that stands in double quotes of a shell, on
 * one line. */
void osc_shell_add_string(struct osc_strbuf *out, struct osc_str text);
