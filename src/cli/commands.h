/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands.h - the one list of commands, and the pages that --help prints.
 *
 * Threading: constants.
 */
#pragma once

#include "base/strbuf.h"
#include "cli/cli.h"

/* Without a name of its own, and so not in osc_commands: `opscope TRACE`. */
extern const struct osc_command osc_command_screen;

#define OSC_COMMAND_DECLARE(name) extern const struct osc_command osc_command_##name;
OSC_COMMAND_LIST(OSC_COMMAND_DECLARE)
#undef OSC_COMMAND_DECLARE

/* What `opscope --help` prints, and `opscope COMMAND --help`. */
void osc_help_all(struct osc_strbuf *out);
void osc_help_command(struct osc_strbuf *out, const struct osc_command *command);

/* Print the page of COMMAND, NULL: of all. The status to exit with. */
int osc_help_show(const struct osc_command *command);

/* A script that completes opscope's words in SHELL ("bash", "zsh"); false: unknown. */
bool osc_completion_write(struct osc_strbuf *out, const char *shell);
