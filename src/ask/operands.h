/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operands.h - the words that name files on a command line.
 *
 * Threading: pure functions; the buffer is the caller's.
 */
#pragma once

#include "base/strbuf.h"

/* The named commands in the order of --help; each has a file cmd_NAME.c. `view` follows, where
 * it was built. */
#define OSC_COMMAND_LIST(X) X(run) X(ctl) X(info) X(table) X(merge) X(diff) X(export)

/*
 * Append PATH, quoted for a shell, in a form that is never read as a table, a command or an
 * option. For standard input append a placeholder for a file.
 */
void osc_operands_add_trace(struct osc_strbuf *out, const char *path);

/* Append the operands that name the files at PATHS. */
void osc_operands_add(struct osc_strbuf *out, const char *const *paths, size_t n);
