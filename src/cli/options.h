/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.h - every option of every command, once.
 *
 * One table says name, argument, commands and help of each option; parsing, --help
 * and the completion of shells are made from it.
 *
 * Threading: constants, and values of one thread.
 */
#pragma once

#include "ask/request.h"
#include "cli/cli.h"

/* What a shell proposes for the argument. */
enum osc_completion {
    OSC_COMPLETE_NOTHING,
    OSC_COMPLETE_SORT,
    OSC_COMPLETE_COLUMNS,
    OSC_COMPLETE_COLUMN,
    OSC_COMPLETE_GROUPING,
    OSC_COMPLETE_TABLE,
    OSC_COMPLETE_FILE,
};

struct osc_args;

struct osc_option {
    const char *name;
    char letter;          /* or 0 */
    const char *argument; /* as --help shows it, in brackets if it may be missing; NULL: none */
    unsigned commands;    /* bits OSC_COMMAND_ */
    const char *help;
    const char *group; /* title above it in --help, where it differs from the one before */
    const char *words; /* that a shell proposes for the argument, apart by blanks */
    enum osc_completion completion; /* what else it proposes */
    /* What only the commands know has one of these; the rest is in struct osc_request. */
    size_t text, flag; /* where its argument, or that it is given, goes in struct osc_args */
    int (*set)(struct osc_args *args,
               const char *value); /* OSC_EXIT_DONE, or after a message */
};

/* Whether O has an argument that has to be given; one that may be missing is then "". */
static inline bool osc_option_wants_argument(const struct osc_option *o)
{
    return o->argument && *o->argument != '[';
}

/* In the order of --help, ended by one without a name. */
extern const struct osc_option osc_options[];

/* What O is called in struct osc_request; "" for one of a command alone. */
static inline const char *osc_option_field(const struct osc_option *o)
{
    return o->text || o->flag || o->set ? "" : o->name;
}

/* Of `opscope run`: as given, or NULL. */
struct osc_run_args {
    const char *sources, *torch, *schedule, *flight;
    uint64_t limit_bytes; /* 0: none */
    bool is_strict, is_forced, wants_summary, prints_env;
};

struct osc_args {
    const struct osc_command *command;
    struct osc_request request;              /* what the options of tables and traces say */
    const struct osc_renderer *renderer;     /* that it asks for */
    const char *explain;                     /* as given, or NULL */
    const char *output, *form, *named_table; /* of export: as given, or NULL */
    const char *stack, *metric;              /* of export: as given, or NULL */
    struct osc_run_args run;
    bool is_redacted, with_counters;
    bool verifies; /* of info */
    bool wants_list, wants_help;
    char **operands; /* borrowed from argv, ended by NULL */
    int n_operands;
};

/*
 * Read ARGV, whose first is the name of COMMAND, into ARGS; its operands move to the
 * front. Options may stand anywhere before "--" (or before the program that a command
 * takes), the last of equal ones holds, and names are never shortened. OSC_EXIT_DONE, or else
 * OSC_EXIT_MISUSED after a message.
 */
int osc_args_parse(struct osc_args *args, const struct osc_command *command, int argc,
                   char **argv);

/* The operands of ARGS, for who opens them. */
static inline const char *const *osc_args_paths(const struct osc_args *args)
{
    return (const char *const *)args->operands;
}
