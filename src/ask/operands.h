/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operands.h - the words that name traces on a command line.
 *
 * Threading: pure functions; the buffer is the caller's.
 */
#pragma once

#include "base/strbuf.h"
#include "opscope/trace.h"

/* The named commands in the order of --help; each has a file cmd_NAME.c. `view` follows, where
 * it was built. */
#define OSC_COMMAND_LIST(X) X(run) X(ctl) X(info) X(table) X(merge) X(diff) X(export)

/*
 * Append PATH, quoted for a shell, in a form that is never read as a table, a command or an
 * option. For standard input append a placeholder for a file.
 */
void osc_operands_add_trace(struct osc_strbuf *out, const char *path);

/* Append the operands and options that name the N traces at PATHS with the ranks and spans of
 * VIEW. */
void osc_operands_add(struct osc_strbuf *out, const struct osc_view *view,
                      const char *const *paths, size_t n);

/* Append the options that name the rest of VIEW, each behind a blank. */
void osc_operands_add_selection(struct osc_strbuf *out, const struct osc_view *view);
