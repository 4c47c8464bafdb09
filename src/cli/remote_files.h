/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remote_files.h - copies of what a command line names on servers.
 *
 * They are in a temporary directory that is removed at the end. Each URL is copied once.
 *
 * Threading: one thread.
 */
#pragma once

#include "cli/command_options.h"

/* Set *LOCAL to the path of a copy of PATH, which is borrowed until the end, or to PATH itself
 * if it is no URL. Returns the exit status, after a message. */
int osc_remote_files_get(const char *path, const char **local);

/* Replace the operands of ARGS that are URLs, and its --logdir, by paths of copies. */
int osc_remote_files_replace(struct osc_args *args);

/* Remove all copies. */
void osc_remote_files_remove(void);
