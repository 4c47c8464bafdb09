/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli.h - what all commands share: options, messages, standard output.
 *
 *   - Results go to standard output, everything else to standard error, as
 *     "opscope COMMAND: message".
 *   - Exit codes: 0 done, 1 failed, 2 misused; of `opscope diff` also 3 and 4.
 *   - Colour, progress and cut names are only for terminals.
 *
 * Threading: one thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ask/operands.h"
#include "base/status.h"

enum osc_exit {
    OSC_EXIT_DONE = 0,
    OSC_EXIT_FAILED = 1,
    OSC_EXIT_MISUSED = 2,
    OSC_EXIT_BROKEN = 3,      /* a gate of `opscope diff` broke */
    OSC_EXIT_INCOMPARABLE = 4 /* its runs cannot be compared */
};

struct osc_args; /* options.h */

/* A subcommand is one file that ends in one of these, and one line in commands.c. */
struct osc_command {
    const char *name;
    unsigned bit;         /* in osc_option.commands */
    const char *operands; /* for the line of usage */
    const char *summary;  /* one line of `opscope --help` */
    const char *text;     /* description for its own --help */
    const char *examples;
    int (*run)(struct osc_args *args);
    bool takes_program; /* its operands are a program and its arguments: options after the
                         * first operand belong to the program */
    bool chooses_run;   /* it chooses the run of a log directory itself (log_dirs.h) */
};

#define OSC_COMMAND_TABLE  1u
#define OSC_COMMAND_INFO   2u
#define OSC_COMMAND_EXPORT 4u
#define OSC_COMMAND_SCREEN 8u
#define OSC_COMMAND_RUN    16u
#define OSC_COMMAND_CTL    32u
#define OSC_COMMAND_MERGE  64u
#define OSC_COMMAND_DIFF   128u
#define OSC_COMMAND_VIEW   256u

/* All commands, ended by NULL, and the one called NAME, or NULL. */
extern const struct osc_command *const osc_commands[];
const struct osc_command *osc_command_find(const char *name);

struct osc_strbuf;

/* From now on, append messages as lines to TO instead of printing them; NULL: print them. */
void osc_cli_capture(struct osc_strbuf *to);

/* Set the command that messages name; NULL: opscope itself. */
void osc_cli_set_command(const char *name);

/* Print "opscope COMMAND: MESSAGE" and a line feed on standard error. */
void osc_cli_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same for what is no error, as wide as the terminal. */
void osc_cli_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* As osc_cli_error(); returns OSC_EXIT_MISUSED. */
int osc_cli_misuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Report failure ST, whose sentence is in ERR, and return the exit code. If the reader of a
 * pipe has closed it, nothing is printed: a table then counts as done, a file as failed.
 */
int osc_cli_fail(osc_status st, const struct osc_err *err);

/* Set up signals and descriptors; the first call in main(). */
void osc_cli_start(void);

/* Write as to files even where a descriptor is a terminal. A launcher such as mpirun gives its
 * processes terminals, and passes on what they write to a file. */
void osc_cli_be_plain(void);

/* Undo osc_cli_start(), just before another program replaces this process. */
void osc_cli_unstart(void);

/* Write results to FD from now on; messages call it NAME (borrowed). */
void osc_cli_redirect(int fd, const char *name);

/* Write LEN bytes to the results; CTX is unused. EPIPE: OSC_ECANCELED. */
OSC_MUST_USE osc_status osc_cli_write(void *ctx, const char *s, size_t len);

/* Callbacks for struct osc_layout: write text, and print a note. */
int osc_cli_put(void *ctx, const char *s, size_t len);
void osc_cli_hear(void *ctx, const char *line);

/* Width of the terminal at FD, at least OSC_CLI_WIDTH_LEAST; 0: not a terminal. */
#define OSC_CLI_WIDTH_LEAST 20
unsigned osc_cli_width(int fd);

/* Whether FD is a terminal that understands escape sequences. */
bool osc_cli_takes_escapes(int fd);

/* Whether standard output is such a terminal, and colour is wanted. */
bool osc_cli_has_colour(void);
