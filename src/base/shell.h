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

/* Append an EXPRESSION of SQL, which has quotation marks of its own: in double quotes; as
 * osc_shell_add_word() does if it has what a shell would not leave alone there. */
void osc_shell_add_expression(struct osc_strbuf *out, const char *expression);
