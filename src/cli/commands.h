/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands.h - the one list of commands, and the pages that --help prints.
 *
 * Threading: constants.
 */
#pragma once

#include "base/strbuf.h"
#include "cli/cli.h"

/* The command without a name, `opscope TRACE`; it is not in osc_commands. */
extern const struct osc_command osc_command_screen;

#define OSC_COMMAND_DECLARE(name) extern const struct osc_command osc_command_##name;
OSC_COMMAND_LIST(OSC_COMMAND_DECLARE)
#undef OSC_COMMAND_DECLARE

/* It is there only if the server could be built. */
extern const struct osc_command osc_command_view;

/* Append the text of `opscope --help` or `opscope COMMAND --help`. */
void osc_help_all(struct osc_strbuf *out);
void osc_help_command(struct osc_strbuf *out, const struct osc_command *command);

/* Print the help of COMMAND; NULL: of all. Returns the exit status. */
int osc_help_show(const struct osc_command *command);

/* Append a completion script for SHELL ("bash", "zsh"); false: unknown shell. */
bool osc_completion_write(struct osc_strbuf *out, const char *shell);
