/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options.h"

#include <stdio.h>
#include <string.h>

#include "recording/schedule.h"
#include "table/nearest.h"

#define TABLE  OSC_COMMAND_TABLE
#define BOTH   (OSC_COMMAND_TABLE | OSC_COMMAND_INFO)
#define EXPORT OSC_COMMAND_EXPORT
#define RUN    OSC_COMMAND_RUN
#define ALL    (BOTH | EXPORT | OSC_COMMAND_SCREEN)
#define HELP   (ALL | RUN | OSC_COMMAND_CTL)

const struct osc_option osc_options[OSC_OPTION_COUNT] = {
    [OSC_OPTION_OUTPUT] = {"output", 'o', "OUT", EXPORT, OSC_COMPLETE_FILE, NULL,
                           "What to write", "file to write; - means standard output"},
    [OSC_OPTION_EXPORT_FORMAT] =
        {"format", 'f', "FORM", EXPORT, OSC_COMPLETE_WORDS, "json json.gz osc folded csv", NULL,
         "json, json.gz, osc, folded or csv (default: the suffix of OUT)"},
    [OSC_OPTION_TABLE] = {"table", 't', "NAME", EXPORT, OSC_COMPLETE_TABLE, NULL, NULL,
                          "table to write as CSV (default: events)"},
    [OSC_OPTION_STACK] = {"stack", 0, "KIND", EXPORT, OSC_COMPLETE_WORDS, "op python module",
                          NULL,
                          "frames of folded stacks: op (operators, default), python or module"},
    [OSC_OPTION_METRIC] = {"metric", 0, "COL", EXPORT, OSC_COMPLETE_WORDS,
                           "host_self_ns device_self_ns calls self_cpu_time_total "
                           "self_cuda_time_total",
                           NULL,
                           "value of folded stacks: host_self_ns (default), device_self_ns or "
                           "calls; with --stack python also torch's self_cpu_time_total or "
                           "self_cuda_time_total, as in export_stacks()"},
    [OSC_OPTION_COUNTERS] = {"counters", 0, NULL, EXPORT, OSC_COMPLETE_NOTHING, NULL, NULL,
                             "add counter tracks to json: utilization of each device, "
                             "estimated SM efficiency"},
    [OSC_OPTION_REDACT] = {"redact", 0, NULL, EXPORT, OSC_COMPLETE_NOTHING, NULL, NULL,
                           "leave out arguments, paths and hosts"},

    [OSC_OPTION_SORT] =
        {"sort", 's', "COL", TABLE, OSC_COMPLETE_SORT, NULL, "Rows and columns",
         "sort rows by COL or -COL in descending order, by COL:asc in ascending order; torch's "
         "keys such as self_cpu_time_total are accepted"},
    [OSC_OPTION_LIMIT] = {"limit", 'n', "N", BOTH, OSC_COMPLETE_NOTHING, NULL, NULL,
                          "print at most N rows of each rank and span; 0 means all (default: "
                          "100 for text of table, otherwise all)"},
    [OSC_OPTION_COLUMNS] = {"columns", 'c', "A,B", TABLE, OSC_COMPLETE_COLUMNS, NULL, NULL,
                            "print these columns, in this order"},
    [OSC_OPTION_WHERE] =
        {"where", 'w', "EXPR", TABLE, OSC_COMPLETE_COLUMNS, NULL, NULL,
         "print the rows for which EXPR is true: an SQLite expression over columns, with ns() "
         "us() ms() s() kib() mib() gib(), such as 'total_ns > us(10)'"},
    [OSC_OPTION_GROUP_BY] =
        {"group-by", 'g', "KEY", TABLE, OSC_COMPLETE_GROUPING, NULL, NULL,
         "make a row for each KEY, such as shape or stack:5; --list names the keys of a table"},
    [OSC_OPTION_MERGE] = {"merge", 'm', NULL, BOTH, OSC_COMPLETE_NOTHING, NULL, NULL,
                          "sum all ranks and spans into one block of rows"},
    [OSC_OPTION_FORMAT] = {"format", 'f', "FORM", BOTH, OSC_COMPLETE_WORDS, "text csv json md",
                           NULL, "text (for people), csv, json or md (exact, for programs)"},
    [OSC_OPTION_LIST] = {"list", 'l', NULL, TABLE, OSC_COMPLETE_NOTHING, NULL, NULL,
                         "list all tables with their columns, and exit"},
    [OSC_OPTION_EXPLAIN] = {"explain", 'e', "COL", TABLE, OSC_COMPLETE_COLUMN, NULL, NULL,
                            "print what column COL means, by which rules, and exit"},

    [OSC_OPTION_RANK] =
        {"rank", 0, "LIST", ALL, OSC_COMPLETE_NOTHING, NULL,
         "What to look at (everything else is left out before anything is counted)",
         "ranks, such as 0,4-7"},
    [OSC_OPTION_SPAN] = {"span", 0, "LIST", ALL, OSC_COMPLETE_NOTHING, NULL, NULL,
                         "recording windows, counted from 1"},
    [OSC_OPTION_PROCESS] = {"process", 0, "PID", ALL, OSC_COMPLETE_NOTHING, NULL, NULL,
                            "one process, by number or name"},
    [OSC_OPTION_THREAD] =
        {"thread", 0, "TID", ALL, OSC_COMPLETE_NOTHING, NULL, NULL,
         "one host thread, by number or name, with the device work it launched"},
    [OSC_OPTION_DEVICE] = {"device", 0, "NAME", ALL, OSC_COMPLETE_NOTHING, NULL, NULL,
                           "one device, such as cuda:0, and the host"},
    [OSC_OPTION_STEPS] = {"steps", 0, "A-B", ALL, OSC_COMPLETE_NOTHING, NULL, NULL,
                          "steps by label, both included; @0-@2 by number"},
    [OSC_OPTION_FROM] = {"from", 0, "TIME", ALL, OSC_COMPLETE_NOTHING, NULL, NULL,
                         "events that start at TIME or later: 10us, 1.5ms, 2s or plain ns "
                         "after the first event"},
    [OSC_OPTION_TO] = {"to", 0, "TIME", ALL, OSC_COMPLETE_NOTHING, NULL, NULL,
                       "events that start before TIME"},
    [OSC_OPTION_AT] = {"at", 0, "TIME", TABLE, OSC_COMPLETE_NOTHING, NULL, NULL,
                       "what is allocated and not yet released at TIME"},

    [OSC_OPTION_HEADER] = {"header", 0, "TEXT", TABLE, OSC_COMPLETE_NOTHING, NULL,
                           "The text of averages", "print TEXT above the table"},
    [OSC_OPTION_TOP_LEVEL] = {"top-level", 0, NULL, TABLE, OSC_COMPLETE_NOTHING, NULL, NULL,
                              "print only what no operator called (top_level_events_only)"},
    [OSC_OPTION_MAX_NAME_WIDTH] = {"max-name-width", 0, "N", TABLE, OSC_COMPLETE_NOTHING, NULL,
                                   NULL,
                                   "cut names after N characters (default: 55; 0: never)"},
    [OSC_OPTION_MAX_SRC_WIDTH] =
        {"max-src-width", 0, "N", TABLE, OSC_COMPLETE_NOTHING, NULL, NULL,
         "cut source lines after N characters (default: 75; 0: never)"},
    [OSC_OPTION_MAX_SHAPES_WIDTH] = {"max-shapes-width", 0, "N", TABLE, OSC_COMPLETE_NOTHING,
                                     NULL, NULL,
                                     "cut shapes after N characters (default: 80; 0: never)"},
    [OSC_OPTION_TORCH] = {"torch", 0, "VERSION", TABLE, OSC_COMPLETE_WORDS, "1.13 2.13", NULL,
                          "print as torch 2.13 or, with its units, 1.13"},

    [OSC_OPTION_COMPAT] = {"compat", 0, "RULES", TABLE, OSC_COMPLETE_WORDS, "tb",
                           "How to count and read",
                           "tb: the rules of the TensorBoard plugin, to compare with it"},
    [OSC_OPTION_NO_PYTHON] = {"no-python", 0, NULL, TABLE, OSC_COMPLETE_NOTHING, NULL, NULL,
                              "leave out Python functions"},
    [OSC_OPTION_FULL_NAMES] = {"full-names", 0, NULL, TABLE | OSC_COMMAND_SCREEN,
                               OSC_COMPLETE_NOTHING, NULL, NULL,
                               "do not shorten the names of kernels in text"},
    [OSC_OPTION_THREADS] = {"threads", 'j', "N", ALL, OSC_COMPLETE_NOTHING, NULL, NULL,
                            "use N threads (default: one for each processor)"},
    [OSC_OPTION_MAX_MEMORY] =
        {"max-memory", 0, "SIZE", ALL, OSC_COMPLETE_NOTHING, NULL, NULL,
         "use at most SIZE of memory, such as 8G (default: 80 % of what is available)"},
    [OSC_OPTION_NO_ARGS] = {"no-args", 0, NULL, ALL, OSC_COMPLETE_NOTHING, NULL, NULL,
                            "do not keep arguments that no analysis uses"},
    [OSC_OPTION_VERIFY] = {"verify", 0, NULL, OSC_COMMAND_INFO, OSC_COMPLETE_NOTHING, NULL,
                           NULL,
                           "check every hash of .osc files, print what is damaged, and exit"},
    [OSC_OPTION_RUN_OUTPUT] =
        {"output", 'o', "DIR", RUN, OSC_COMPLETE_FILE, NULL, "What to record, and where",
         "output directory; created if missing (default: opscope-PROGRAM-DATE-TIME)"},
    [OSC_OPTION_SOURCES] = {"sources", 0, "LIST", RUN, OSC_COMPLETE_WORDS, "api itt torch none",
                            NULL,
                            "sources to record, separated by commas: api (calls of "
                            "libopscope), itt, torch, or none (default: api,itt)"},
    [OSC_OPTION_RUN_TORCH] = {"torch", 0, "[=replace]", RUN, OSC_COMPLETE_NOTHING, NULL, NULL,
                              "record the operators of PyTorch (and no ITT, unless --sources "
                              "names it), or replace torch's profiler by opscope's"},
    [OSC_OPTION_SCHEDULE] = {"schedule", 0, "TEXT", RUN, OSC_COMPLETE_NOTHING, NULL, NULL,
                             "steps to record, such as wait=1,warmup=1,active=3,repeat=2"},
    [OSC_OPTION_FLIGHT] = {"flight", 0, "SPAN", RUN, OSC_COMPLETE_NOTHING, NULL, NULL,
                           "keep the last SPAN, such as 10s or 20steps, and write it when "
                           "something happens: a slow step (slow=2), a signal (signal=USR2), "
                           "a crash (crash), opscope ctl dump"},
    [OSC_OPTION_LIMIT_SIZE] = {"limit-size", 0, "SIZE", RUN, OSC_COMPLETE_NOTHING, NULL, NULL,
                               "keep at most SIZE of files for each process, such as 2G (1M or "
                               "more); the oldest are deleted"},
    [OSC_OPTION_STRICT] =
        {"strict", 0, NULL, RUN, OSC_COMPLETE_NOTHING, NULL, NULL,
         "do not start the program if a source or the output directory cannot be used"},
    [OSC_OPTION_FORCE] = {"force", 0, NULL, RUN, OSC_COMPLETE_NOTHING, NULL, NULL,
                          "take the place of another tool that an environment variable names"},
    [OSC_OPTION_SUMMARY] = {"summary", 0, NULL, RUN, OSC_COMPLETE_NOTHING, NULL, NULL,
                            "print the summary even if standard error is not a terminal"},
    [OSC_OPTION_PRINT_ENV] =
        {"print-env", 0, NULL, RUN, OSC_COMPLETE_NOTHING, NULL, NULL,
         "print the variables that make a program record as shell commands, and exit"},
    [OSC_OPTION_HELP] = {"help", 'h', NULL, HELP, OSC_COMPLETE_NOTHING, NULL, "Help",
                         "print this page"},
};

/* Where the text of option ID of the commands themselves goes as it is, or NULL. */
static const char **text_of(struct osc_args *a, enum osc_option_id id)
{
    const struct {
        enum osc_option_id id;
        const char **text;
    } texts[] = {
        {OSC_OPTION_EXPLAIN, &a->explain},     {OSC_OPTION_OUTPUT, &a->output},
        {OSC_OPTION_EXPORT_FORMAT, &a->form},  {OSC_OPTION_TABLE, &a->named_table},
        {OSC_OPTION_STACK, &a->stack},         {OSC_OPTION_METRIC, &a->metric},
        {OSC_OPTION_RUN_OUTPUT, &a->output},   {OSC_OPTION_SOURCES, &a->run.sources},
        {OSC_OPTION_RUN_TORCH, &a->run.torch}, {OSC_OPTION_SCHEDULE, &a->run.schedule},
        {OSC_OPTION_FLIGHT, &a->run.flight},
    };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (texts[i].id == id)
            return texts[i].text;
    }
    return NULL;
}

/* What option ID of the commands themselves switches on, or NULL. */
static bool *flag_of(struct osc_args *a, enum osc_option_id id)
{
    const struct {
        enum osc_option_id id;
        bool *flag;
    } flags[] = {
        {OSC_OPTION_LIST, &a->wants_list},          {OSC_OPTION_REDACT, &a->is_redacted},
        {OSC_OPTION_VERIFY, &a->verifies},          {OSC_OPTION_COUNTERS, &a->with_counters},
        {OSC_OPTION_HELP, &a->wants_help},          {OSC_OPTION_STRICT, &a->run.is_strict},
        {OSC_OPTION_FORCE, &a->run.is_forced},      {OSC_OPTION_SUMMARY, &a->run.wants_summary},
        {OSC_OPTION_PRINT_ENV, &a->run.prints_env},
    };

    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        if (flags[i].id == id)
            return flags[i].flag;
    }
    return NULL;
}

static int set_limit_size(struct osc_args *a, const char *value)
{
    if (!osc_parse_size(value, &a->run.limit_bytes))
        return osc_cli_misuse("--limit-size: '%s' is not a size; use 2G, 500M or bytes", value);
    if (a->run.limit_bytes < OSC_SCHEDULE_LIMIT_MIN)
        return osc_cli_misuse("--limit-size: %s is too small; the minimum is 1M", value);
    return OSC_EXIT_DONE;
}

/* Option ID with its argument VALUE, NULL if it takes none. */
static int set_option(struct osc_args *a, enum osc_option_id id, const char *value)
{
    const char **text = text_of(a, id);
    bool *flag = flag_of(a, id);
    struct osc_err err = {0};

    a->given |= UINT64_C(1) << id;
    if (flag)
        *flag = true;
    else if (text)
        *text = value;
    else if (id == OSC_OPTION_LIMIT_SIZE)
        return set_limit_size(a, value);
    else if (osc_request_set(&a->request, ~0u, osc_options[id].name, value, &err) != OSC_OK)
        return osc_cli_misuse("%s", err.message);
    return OSC_EXIT_DONE;
}

/* A command line, read from left to right. */
struct line {
    struct osc_args *args;
    char **words;
    int n, at; /* words, and which one is read */
};

/* The option of the command that is called by the LEN bytes at NAME, or -1. */
static int find_long(const struct line *l, const char *name, size_t len)
{
    for (int i = 0; i < OSC_OPTION_COUNT; i++) {
        const struct osc_option *o = &osc_options[i];

        if ((o->commands & l->args->command->bit) && strlen(o->name) == len &&
            memcmp(o->name, name, len) == 0)
            return i;
    }
    return -1;
}

static int find_letter(const struct line *l, char letter)
{
    for (int i = 0; i < OSC_OPTION_COUNT; i++) {
        if ((osc_options[i].commands & l->args->command->bit) &&
            osc_options[i].letter == letter)
            return i;
    }
    return -1;
}

/* NAME is no option: which one was meant? */
static int no_option(const struct line *l, const char *name)
{
    const struct osc_command *const command = l->args->command;
    struct osc_nearest near = {.word = name};

    if (osc_renderer_find(name))
        return osc_cli_misuse("unknown option '--%s'; did you mean '--format %s'?", name, name);
    for (size_t i = 0; i < OSC_OPTION_COUNT; i++) {
        if (osc_options[i].commands & command->bit)
            osc_nearest_try(&near, osc_options[i].name);
    }
    if (near.best)
        return osc_cli_misuse("unknown option '--%s'; did you mean '--%s'?", name, near.best);
    return osc_cli_misuse("unknown option '--%s'; see 'opscope %s --help'", name,
                          command->name);
}

/* The word behind the one that is read, as the argument of option WORD; NULL after a message.
 */
static const char *next_word(struct line *l, const char *word)
{
    const char *next = l->at + 1 < l->n ? l->words[l->at + 1] : NULL;

    if (!next) {
        osc_cli_error("option '%s' needs an argument; see 'opscope %s --help'", word,
                      l->args->command->name);
    } else if (strncmp(next, "--", 2) == 0 &&
               find_long(l, next + 2, strcspn(next + 2, "=")) >= 0) {
        osc_cli_error("option '%s' needs an argument, but '%s' is an option", word, next);
        next = NULL;
    }
    l->at += next != NULL;
    return next;
}

/* "--name", "--name=value" or "--name value". */
static int read_long(struct line *l)
{
    const char *const word = l->words[l->at], *const name = word + 2;
    const size_t len = strcspn(name, "=");
    const char *value = name[len] == '=' ? name + len + 1 : NULL;
    const int id = find_long(l, name, len);
    char head[64];

    if (id < 0) {
        /* Beginnings of names are none: with the next option they would be ambiguous. */
        snprintf(head, sizeof head, "%.*s", (int)(len < 60 ? len : 60), name);
        return no_option(l, head);
    }
    if (!osc_options[id].argument && value)
        return osc_cli_misuse("option '--%s' takes no argument", osc_options[id].name);
    if (osc_options[id].argument && !value) {
        value = osc_option_wants_argument(&osc_options[id]) ? next_word(l, word) : "";
        if (!value)
            return OSC_EXIT_MISUSED;
    }
    return set_option(l->args, (enum osc_option_id)id, value);
}

/* "-a", several as "-abc", the last of them perhaps with its value: "-n5", "-n 5". */
static int read_letters(struct line *l)
{
    const char *const word = l->words[l->at];
    int failed = OSC_EXIT_DONE;

    if (strlen(word) > 2 && find_long(l, word + 1, strcspn(word + 1, "=")) >= 0)
        return osc_cli_misuse("unknown option '%s'; did you mean '-%s'?", word, word);
    for (const char *p = word + 1; *p && !failed; p++) {
        const int id = find_letter(l, *p);
        const char *value = NULL;

        if (id < 0)
            return osc_cli_misuse("unknown option '-%.*s'; see 'opscope %s --help'",
                                  *p & 0x80 ? 4 : 1, p, l->args->command->name);
        if (osc_options[id].argument) {
            value = p[1] ? p + 1 : next_word(l, word);
            if (!value)
                return OSC_EXIT_MISUSED;
            return set_option(l->args, (enum osc_option_id)id, value);
        }
        failed = set_option(l->args, (enum osc_option_id)id, NULL);
    }
    return failed;
}

int osc_args_parse(struct osc_args *args, const struct osc_command *command, int argc,
                   char **argv)
{
    struct line l = {.args = args, .words = argv, .n = argc};
    struct osc_err err = {0};
    bool is_over = false; /* "--" came: all the rest are operands */
    int failed = OSC_EXIT_DONE;

    *args = (struct osc_args){.command = command, .operands = argv + 1};
    for (l.at = 1; l.at < argc && !failed; l.at++) {
        char *const word = argv[l.at];

        if (is_over || word[0] != '-' || word[1] == '\0')
            args->operands[args->n_operands++] = word; /* where options were read already */
        else if (strcmp(word, "--") == 0)
            is_over = true;
        else
            failed = word[1] == '-' ? read_long(&l) : read_letters(&l);
        is_over |= command->takes_program && args->n_operands > 0;
    }
    args->operands[args->n_operands] = NULL; /* as argv ends, and a program's arguments do */
    if (!failed &&
        (osc_request_check(&args->request, &err) != OSC_OK ||
         osc_request_form(args->request.text.format, &args->renderer, &err) != OSC_OK))
        failed = osc_cli_misuse("%s", err.message);
    return failed;
}
