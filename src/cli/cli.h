/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli.h - what the commands share: options, messages, standard output.
 *
 *   - Results go to standard output, everything else to standard error, as
 *     "opscope COMMAND: message".
 *   - Exit: 0 done, 1 failed, 2 misused.
 *   - Colour, progress and cutting are for terminals alone.
 *
 * Threading: one thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ask/operands.h"
#include "base/status.h"

enum osc_exit { OSC_EXIT_DONE = 0, OSC_EXIT_FAILED = 1, OSC_EXIT_MISUSED = 2 };

struct osc_args; /* options.h */

/* A subcommand is one file that ends in one of these, and one line in commands.c. */
struct osc_command {
    const char *name;
    unsigned bit;         /* in osc_option.commands */
    const char *operands; /* for the line of usage */
    const char *summary;  /* one line of `opscope --help` */
    const char *text;     /* what it does, for its own --help */
    const char *examples;
    int (*run)(struct osc_args *args);
    bool takes_program; /* its operands are a program and what belongs to that: the first
                           one ends its own options */
};

#define OSC_COMMAND_TABLE  1u
#define OSC_COMMAND_INFO   2u
#define OSC_COMMAND_EXPORT 4u
#define OSC_COMMAND_SCREEN 8u
#define OSC_COMMAND_RUN    16u
#define OSC_COMMAND_CTL    32u

/* All commands, ended by NULL, and the one called NAME, or NULL. */
extern const struct osc_command *const osc_commands[];
const struct osc_command *osc_command_find(const char *name);

/* Which command messages are from; NULL: opscope itself. */
void osc_cli_set_command(const char *name);

/* "opscope COMMAND: MESSAGE" and a line feed on standard error. */
void osc_cli_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same, and returns OSC_EXIT_MISUSED. */
int osc_cli_misuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Tell of failure ST, whose sentence is in ERR, and return the status to exit with.
 * Where the reader of a pipe has gone nothing is said: then a table is done, and a file
 * has failed.
 */
int osc_cli_fail(osc_status st, const struct osc_err *err);

/* Signals and descriptors as the rest needs them; first thing in main(). */
void osc_cli_start(void);

/* Undo it, right before another program takes the place of this process. */
void osc_cli_unstart(void);

/* The result is a file from now on: it goes to FD, which messages call NAME (borrowed). */
void osc_cli_redirect(int fd, const char *name);

/* Write LEN bytes where results go; CTX is not used. EPIPE: OSC_ECANCELED. */
OSC_MUST_USE osc_status osc_cli_write(void *ctx, const char *s, size_t len);

/* The same, and a line that is said, as struct osc_layout takes them. */
int osc_cli_put(void *ctx, const char *s, size_t len);
void osc_cli_hear(void *ctx, const char *line);

/* Columns of the terminal at FD, OSC_CLI_WIDTH_LEAST or more; 0 if it is none. */
#define OSC_CLI_WIDTH_LEAST 20
unsigned osc_cli_width(int fd);

/* Whether FD is a terminal that is cleared and coloured by escape sequences. */
bool osc_cli_takes_escapes(int fd);

/* Whether that is so for standard output, and colour is wanted. */
bool osc_cli_has_colour(void);
