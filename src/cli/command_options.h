/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command_options.h - every option of every command, once.
 *
 * One table has name, argument, commands and help of each option; parsing, --help and shell
 * completion are made from it.
 *
 * Threading: constants, and values of one thread.
 */
#pragma once

#include "ask/files/share.h"
#include "ask/folders/folder.h"
#include "ask/request.h"
#include "cli/cli.h"

/* What a shell completes the argument with. */
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
    const char *argument; /* as shown by --help, in brackets if optional; NULL: none */
    unsigned commands;    /* bits OSC_COMMAND_ */
    const char *help;
    const char *group; /* title above it in --help, if it differs from the one before */
    const char *words; /* completions of the argument, separated by spaces */
    enum osc_completion completion; /* further completions */
    /* Options of a command alone have one of these; the others are in struct osc_request. */
    size_t text, flag; /* offset in struct osc_args of its argument, or of a bool */
    int (*set)(struct osc_args *args,
               const char *value); /* OSC_EXIT_DONE, or after a message */
};

/* Whether O has a required argument. An optional argument that is not given is "". */
static inline bool osc_option_wants_argument(const struct osc_option *o)
{
    return o->argument && *o->argument != '[';
}

/* All of them, in the order of --help: those of commands, and those that tables declare. The
 * last one has no name. Not thread-safe: the list is made by the first call. */
const struct osc_option *osc_options_all(void);

/* Whether WORD, such as "-o" or "--output=FILE", is the option O. */
bool osc_option_is(const struct osc_option *o, const char *word);

/* The command that has the option WORD: `run` before others; "TRACE": only `opscope TRACE`;
 * NULL: none. */
const char *osc_option_owner(const char *word);

/* The field of struct osc_request that O sets; "" for an option of a command alone. */
static inline const char *osc_option_field(const struct osc_option *o)
{
    return o->text || o->flag || o->set ? "" : o->name;
}

/* The options of `opscope run`: texts as given, or NULL. */
struct osc_run_args {
    const char *sources, *torch, *schedule, *flight, *enable, *sample;
    uint64_t limit_bytes; /* 0: none */
    bool is_strict, is_forced, wants_summary, prints_env, lists_sources;
};

/* The options of `opscope view`: texts as given, or NULL. */
struct osc_view_args {
    const char *port, *host, *hosts, *prefix, *socket;
    bool binds_all, opens, ends_with_input;
};

struct osc_args {
    const struct osc_command *command;
    struct osc_request request;                  /* from the options of tables and traces */
    const struct osc_renderer *renderer;         /* for the form of request */
    const char *explain;                         /* as given, or NULL */
    const char *output, *form, *named_table;     /* of export: as given, or NULL */
    const char *stack, *metric;                  /* of export: as given, or NULL */
    const char *logdir, *logdir_spec, *run_name; /* as given, or NULL: log_dirs.h */
    struct osc_run_args run;
    struct osc_view_args view;
    bool is_redacted, with_counters, no_stacks;
    bool verifies;             /* of info */
    bool is_partial;           /* of table */
    struct osc_share share;    /* of table; n is 0: not given */
    const char *gate, *report; /* of diff: as given, or NULL */
    bool allows_different;     /* of diff */
    bool wants_list, wants_help;
    char **operands; /* borrowed, from argv or operand_array; ended by NULL */
    int n_operands;
    char **operand_array;              /* owned; NULL: none was made */
    struct osc_path_list own_operands; /* those of them that are not in argv */
};

/*
 * Parse ARGV, which begins with the name of COMMAND, into ARGS; operands move to the front of
 * ARGV. Options may be anywhere before "--" (or before the program of `opscope run`), the last
 * of several equal ones counts, and names cannot be abbreviated. Returns OSC_EXIT_DONE, or
 * OSC_EXIT_MISUSED after a message.
 */
int osc_args_parse(struct osc_args *args, const struct osc_command *command, int argc,
                   char **argv);

/* The operands of ARGS as paths. */
static inline const char *const *osc_args_paths(const struct osc_args *args)
{
    return (const char *const *)args->operands;
}
