/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operands.h - what names traces when it is typed.
 *
 * Threading: pure functions; the buffer is the caller's.
 */
#pragma once

#include "base/strbuf.h"
#include "opscope/trace.h"

/* The commands that have a name, in the order of --help: each is a cmd_NAME.c. */
#define OSC_COMMAND_LIST(X) X(run) X(ctl) X(info) X(table) X(export)

/*
 * Append PATH as a shell reads it, so that it is taken for a trace: no table, command or
 * option. Of standard input it says that a file must come from there.
 */
void osc_operands_add_trace(struct osc_strbuf *out, const char *path);

/* Append what names the N traces at PATHS, with the ranks and spans of VIEW. */
void osc_operands_add(struct osc_strbuf *out, const struct osc_view *view,
                      const char *const *paths, size_t n);
