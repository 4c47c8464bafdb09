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

#define OSC_OPTION_LIST(X) \
    X(OUTPUT)              \
    X(EXPORT_FORMAT)       \
    X(TABLE)               \
    X(STACK)               \
    X(METRIC)              \
    X(COUNTERS)            \
    X(REDACT)              \
    X(SORT)                \
    X(LIMIT)               \
    X(COLUMNS)             \
    X(WHERE)               \
    X(GROUP_BY)            \
    X(MERGE)               \
    X(FORMAT)              \
    X(LIST)                \
    X(EXPLAIN)             \
    X(RANK)                \
    X(SPAN)                \
    X(PROCESS)             \
    X(THREAD)              \
    X(DEVICE)              \
    X(STEPS)               \
    X(FROM)                \
    X(TO)                  \
    X(AT)                  \
    X(HEADER)              \
    X(TOP_LEVEL)           \
    X(MAX_NAME_WIDTH)      \
    X(MAX_SRC_WIDTH)       \
    X(MAX_SHAPES_WIDTH)    \
    X(TORCH)               \
    X(COMPAT)              \
    X(NO_PYTHON)           \
    X(FULL_NAMES)          \
    X(THREADS)             \
    X(MAX_MEMORY)          \
    X(NO_ARGS)             \
    X(VERIFY)              \
    X(RUN_OUTPUT)          \
    X(SOURCES)             \
    X(RUN_TORCH)           \
    X(SCHEDULE)            \
    X(FLIGHT)              \
    X(LIMIT_SIZE)          \
    X(STRICT)              \
    X(FORCE)               \
    X(SUMMARY)             \
    X(PRINT_ENV)           \
    X(HELP)

enum osc_option_id {
#define OSC_OPTION_ENUM(name) OSC_OPTION_##name,
    OSC_OPTION_LIST(OSC_OPTION_ENUM)
#undef OSC_OPTION_ENUM
        OSC_OPTION_COUNT
};

_Static_assert(OSC_OPTION_COUNT <= 64, "osc_args.given has a bit for each");

/* What a shell proposes for the argument. */
enum osc_completion {
    OSC_COMPLETE_NOTHING,
    OSC_COMPLETE_SORT,
    OSC_COMPLETE_COLUMNS,
    OSC_COMPLETE_COLUMN,
    OSC_COMPLETE_GROUPING,
    OSC_COMPLETE_TABLE,
    OSC_COMPLETE_FILE,
    OSC_COMPLETE_WORDS, /* of osc_option.words */
};

struct osc_option {
    const char *name;
    char letter;          /* or 0 */
    const char *argument; /* as --help shows it, in brackets if it may be missing; NULL: none */
    unsigned commands;    /* bits OSC_COMMAND_ */
    enum osc_completion completion;
    const char *words; /* apart by blanks */
    const char *group; /* title above it in --help, where it differs from the one before */
    const char *help;
};

/* Whether O has an argument that has to be given; one that may be missing is then "". */
static inline bool osc_option_wants_argument(const struct osc_option *o)
{
    return o->argument && *o->argument != '[';
}

/* Indexed by enum osc_option_id. */
extern const struct osc_option osc_options[OSC_OPTION_COUNT];

/* What option ID is called in struct osc_request; "" for those of a command alone. */
static inline const char *osc_option_field(enum osc_option_id id)
{
    return id == OSC_OPTION_RUN_TORCH || id == OSC_OPTION_EXPORT_FORMAT ? ""
                                                                        : osc_options[id].name;
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
    uint64_t given;  /* bit per enum osc_option_id */
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
