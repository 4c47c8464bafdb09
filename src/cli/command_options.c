/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command_options.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analysis/table_registry.h"
#include "base/parse.h"
#include "recording/schedule.h"
#include "sources/source_kinds.h"
#include "table/nearest.h"
#include "table/table_options.h"

#define TABLE  OSC_COMMAND_TABLE
#define BOTH   (OSC_COMMAND_TABLE | OSC_COMMAND_INFO)
#define EXPORT OSC_COMMAND_EXPORT
#define RUN    OSC_COMMAND_RUN
#define DIFF   OSC_COMMAND_DIFF
#define ROWS   (TABLE | DIFF)
#define VIEW   OSC_COMMAND_VIEW
#define ALL    (BOTH | EXPORT | OSC_COMMAND_SCREEN | DIFF | VIEW)
#define HELP   (ALL | RUN | OSC_COMMAND_CTL | OSC_COMMAND_MERGE)

#define OPTIONS_MAX 160u

#define AT(member) offsetof(struct osc_args, member)

#define SOURCE_WORD(name, folder, word) word " "
#define SOURCE_ITEM(name, folder, word) word ", "

static int set_limit_size(struct osc_args *a, const char *value)
{
    if (!osc_parse_size(value, &a->run.limit_bytes))
        return osc_cli_misuse("--limit-size: '%s' is not a size; use 2G, 500M or bytes", value);
    if (a->run.limit_bytes < OSC_SCHEDULE_LIMIT_MIN)
        return osc_cli_misuse("--limit-size: %s is too small; the minimum is 1M", value);
    return OSC_EXIT_DONE;
}

static int set_share(struct osc_args *a, const char *value)
{
    int64_t number, n;
    char first[24];
    const char *const slash = strchr(value, '/');
    const size_t len = slash ? (size_t)(slash - value) : sizeof first;

    if (len < sizeof first) {
        memcpy(first, value, len);
        first[len] = '\0';
    }
    if (len >= sizeof first || !osc_parse_whole(slash + 1, 1, OSC_SHARES_MAX, &n) ||
        !osc_parse_whole(first, 1, n, &number))
        return osc_cli_misuse("--share: '%s' is not a share such as 1/4, 2/4, 3/4 or 4/4",
                              value);
    a->share = (struct osc_share){(uint32_t)number - 1, (uint32_t)n};
    return OSC_EXIT_DONE;
}

static const struct osc_option before[] = {
    {"output", 'o', "OUT", EXPORT, .help = "file to write; - means standard output",
     .group = "What to write", .completion = OSC_COMPLETE_FILE, .text = AT(output)},
    {"format", 'f', "FORM", EXPORT,
     .help = "json, json.gz, osc, folded, csv or html (default: the suffix of OUT)",
     .words = "json json.gz osc folded csv html", .text = AT(form)},
    {"table", 't', "NAME", EXPORT, .help = "table to write as CSV (default: events)",
     .completion = OSC_COMPLETE_TABLE, .text = AT(named_table)},
    {"stack", 0, "KIND", EXPORT,
     .help = "frames of folded stacks: op (operators, default), python, module or sample "
             "(of a sampled profile beside the events)",
     .words = "op python module sample", .text = AT(stack)},
    {"metric", 0, "COL", EXPORT,
     .help = "value of folded stacks: host_self_ns (default), device_self_ns or calls; with "
             "--stack op also self_alloc_bytes; with --stack python also torch's "
             "self_cpu_time_total or "
             "self_cuda_time_total, as in export_stacks()",
     .words = "host_self_ns device_self_ns calls self_alloc_bytes self_cpu_time_total "
              "self_cuda_time_total",
     .text = AT(metric)},
    {"counters", 0, NULL, EXPORT,
     .help = "add counter tracks to json: utilization of each device, estimated SM efficiency",
     .flag = AT(with_counters)},
    {"no-stacks", 0, NULL, EXPORT, .help = "write json without the stacks that events have",
     .flag = AT(no_stacks)},
    {"redact", 0, NULL, EXPORT,
     .help = "replace all text that is not known to be public, and leave out "
             "arguments",
     .flag = AT(is_redacted)},

    {"table", 't', "NAME", DIFF,
     .help = "print one table that compares runs, such as diff_ranges; opscope table --list "
             "has all",
     .group = "What to print", .completion = OSC_COMPLETE_TABLE, .text = AT(named_table)},
    {"fail-on", 0, "GATE", DIFF,
     .help = "exit with status 3 if GATE is true, such as 'step.total > 5% and significant'",
     .text = AT(gate)},
    {"report", 0, "FILE", DIFF,
     .help = "write what the gate found to FILE: JUnit's XML if it ends in .xml, else Markdown "
             "(.md)",
     .completion = OSC_COMPLETE_FILE, .text = AT(report)},
    {"allow-different", 0, NULL, DIFF,
     .help = "let the gate compare runs of different devices or machines",
     .flag = AT(allows_different)},

    {"port", 0, "N", VIEW,
     .help = "port to listen at; 0: any that is free (default: 6006, or the next free one)",
     .group = "Where the server listens", .text = AT(view.port)},
    {"host", 0, "NAME", VIEW,
     .help = "name or address to listen at (default: 127.0.0.1, which only this machine "
             "reaches)",
     .text = AT(view.host)},
    {"bind_all", 0, NULL, VIEW,
     .help = "listen at all addresses of this machine; clients need the printed token",
     .flag = AT(view.binds_all)},
    {"hosts", 0, "A,B", VIEW,
     .help = "further names under which browsers address it, such as that of a proxy",
     .text = AT(view.hosts)},
    {"path_prefix", 0, "PATH", VIEW,
     .help = "put PATH before all paths, such as /opscope behind a proxy",
     .text = AT(view.prefix)},
    {"socket", 0, "PATH", VIEW,
     .help = "listen at a Unix socket that only this user may use, instead of a port; for a "
             "proxy",
     .completion = OSC_COMPLETE_FILE, .text = AT(view.socket)},
    {"until-eof", 0, NULL, VIEW,
     .help = "end when standard input does, and so with the program at the other end of it",
     .flag = AT(view.ends_with_input)},
    {"open", 0, NULL, VIEW, .help = "show the page in a browser", .flag = AT(view.opens)},

    {"sort", 's', "COL", ROWS,
     .help = "sort rows by COL or -COL in descending order, by COL:asc in ascending order; "
             "torch's keys such as self_cpu_time_total are accepted",
     .group = "Rows and columns", .completion = OSC_COMPLETE_SORT},
    {"limit", 'n', "N", BOTH | DIFF,
     .help = "print at most N rows of each rank and span; 0 means all "
             "(default: 100 for text of table, otherwise all)"},
    {"columns", 'c', "A,B", ROWS, .help = "print these columns, in this order",
     .completion = OSC_COMPLETE_COLUMNS},
    {"where", 'w', "EXPR", ROWS,
     .help = "print the rows for which EXPR is true: an SQLite expression over columns, "
             "with ns() us() ms() s() kib() mib() gib(), such as 'total_ns > us(10)'",
     .completion = OSC_COMPLETE_COLUMNS},
    {"group-by", 'g', "KEY", ROWS,
     .help =
         "make a row for each KEY, such as shape, dtype or stack:5, or one of all names that "
         "a pattern matches: 'name~layer_([0-9]+)'; --list names the keys of a table",
     .completion = OSC_COMPLETE_GROUPING},
    {"merge", 'm', NULL, BOTH, .help = "sum all ranks and spans into one block of rows"},
    {"format", 'f', "FORM", BOTH | DIFF,
     .help = "text (for people), csv, json, jsonl (an object a row), md or arrow (exact, "
             "for programs)",
     .words = "text csv json jsonl md arrow"},
    {"list", 'l', NULL, TABLE, .help = "list all tables with their columns, and exit",
     .flag = AT(wants_list)},
    {"explain", 'e', "COL", TABLE,
     .help = "print what column COL means, by which rules, and exit",
     .completion = OSC_COMPLETE_COLUMN, .text = AT(explain)},

    {"partial", 0, NULL, TABLE,
     .help = "write the parts of the table to the file -o names, for opscope merge",
     .group = "Many processes", .flag = AT(is_partial)},
    {"share", 0, "K/N", TABLE,
     .help = "with --partial: only the K-th of N shares of the files, by size",
     .set = set_share},
    {"output", 'o', "X.part", TABLE,
     .help = "with --partial: the file to write; - means "
             "standard output",
     .completion = OSC_COMPLETE_FILE, .text = AT(output)},

    {"logdir", 0, "DIR", ALL,
     .help = "directory of runs: each directory in it or below it that has traces is one",
     .group = "Which run to read", .completion = OSC_COMPLETE_FILE, .text = AT(logdir)},
    {"logdir_spec", 0, "SPEC", ALL,
     .help = "several of them, as A:DIR,B:DIR; names of runs then begin with A or B",
     .completion = OSC_COMPLETE_FILE, .text = AT(logdir_spec)},
    {"run", 0, "NAME", ALL,
     .help = "the run to read, if there are several; opscope info --logdir DIR lists them",
     .text = AT(run_name)},

    {"rank", 0, "LIST", ALL, .help = "ranks, such as 0,4-7",
     .group = "What to look at (everything else is left out before anything is counted)"},
    {"span", 0, "LIST", ALL, .help = "recording windows, counted from 1"},
    {"base-rank", 0, "LIST", TABLE | DIFF,
     .help = "ranks of the base, where they are not those of --rank"},
    {"base-span", 0, "LIST", TABLE | DIFF,
     .help = "recording windows of the base, where they are not those of --span"},
    {"process", 0, "PID", ALL, .help = "one process, by number or name"},
    {"thread", 0, "TID", ALL,
     .help = "one host thread, by number or name, with the device work it launched"},
    {"device", 0, "NAME", ALL, .help = "one device, such as cuda:0 or xpu:0, and the host"},
    {"steps", 0, "A-B", ALL, .help = "steps by label, both included; @0-@2 by number"},
    {"from", 0, "TIME", ALL,
     .help = "events that start at TIME or later: 10us, 1.5ms, 2s or plain "
             "ns after the first event"},
    {"to", 0, "TIME", ALL, .help = "events that start before TIME"},
};

static const struct osc_option behind[] = {
    {"full-names", 0, NULL, ROWS | OSC_COMMAND_SCREEN,
     .help = "do not fold the names of kernels in text", .group = "How to read and print"},
    {"threads", 'j', "N", ALL, .help = "use N threads (default: one for each processor)"},
    {"max-memory", 0, "SIZE", ALL | OSC_COMMAND_MERGE,
     .help = "use at most SIZE of memory, such as 8G (default: 80 % of what is available)"},
    {"no-args", 0, NULL, ALL, .help = "do not keep arguments that no analysis uses"},
    {"verify", 0, NULL, OSC_COMMAND_INFO,
     .help = "check every hash of .osc files, print what is damaged, and exit",
     .flag = AT(verifies)},
    {"output", 'o', "DIR", RUN,
     .help = "output directory; created if missing (default: opscope-PROGRAM-DATE-TIME)",
     .group = "What to record, and where", .completion = OSC_COMPLETE_FILE, .text = AT(output)},
    {"sources", 0, "LIST", RUN,
     .help = "sources to record, separated by commas: api (calls of "
             "libopscope), " OSC_COLLECTED_LIST(
                 SOURCE_ITEM) "torch, or none (default: all but torch)",
     .words = OSC_SOURCE_LIST(SOURCE_WORD) "none", .text = AT(run.sources)},
    {"torch", 0, "[=WHAT]", RUN,
     .help = "record the operators of PyTorch (and no ITT, unless --sources names it); with "
             "WHAT stack also calls of Python and modules; with replace only the program's own "
             "profiles, by opscope in place of torch.profiler",
     .words = "stack replace", .text = AT(run.torch)},
    {"schedule", 0, "TEXT", RUN,
     .help = "steps to record, such as wait=1,warmup=1,active=3,repeat=2",
     .text = AT(run.schedule)},
    {"flight", 0, "SPAN", RUN,
     .help = "keep the last SPAN, such as 10s or 20steps, and write it when something happens: "
             "a slow step (slow=2), a signal (signal=USR2), a crash (crash), opscope ctl dump; "
             "buffer=SIZE sets the memory",
     .text = AT(run.flight)},
    {"enable", 0, "LIST", RUN,
     .help = "levels of categories, separated by commas: io (on), io:2 (with its details), -io "
             "(off), '*:0,io' (io, and what has no category); '*' at the end stands for any "
             "names; opscope ctl changes them later",
     .text = AT(run.enable)},
    {"sample", 0, "LIST", RUN,
     .help =
         "scopes to sample, separated by commas: parse=100 (one in 100 calls), parse=5000/s "
         "(fewer while a thread records more in a second), '*=5000/s'",
     .text = AT(run.sample)},
    {"limit-size", 0, "SIZE", RUN,
     .help = "keep at most SIZE of files for each process, such as "
             "2G (1M or more); the oldest are deleted",
     .set = set_limit_size},
    {"strict", 0, NULL, RUN,
     .help = "do not start the program if a source or the output directory cannot be used",
     .flag = AT(run.is_strict)},
    {"force", 0, NULL, RUN,
     .help = "take the place of another tool that an environment variable names",
     .flag = AT(run.is_forced)},
    {"summary", 0, NULL, RUN,
     .help = "print the summary even if standard error is not a terminal",
     .flag = AT(run.wants_summary)},
    {"list-sources", 0, NULL, RUN,
     .help = "print what can be recorded here, what is missing and how to get it, and exit",
     .flag = AT(run.lists_sources)},
    {"print-env", 0, NULL, RUN,
     .help = "print the variables that make a program record as shell commands, and exit",
     .flag = AT(run.prints_env)},
    {"help", 'h', NULL, HELP, .help = "print this page", .group = "Help",
     .flag = AT(wants_help)},
    {.name = NULL},
};

/* The lists above, with the options that tables declare between them. */
static struct osc_option all[OPTIONS_MAX + 1];
static size_t n_all;

static void append(const struct osc_option *options, size_t n)
{
    for (size_t i = 0; i < n && n_all < OPTIONS_MAX; i++)
        all[n_all++] = options[i];
}

/* The declaration of the option NAME by a table of one run, or by one that compares two. */
static const struct osc_table_option *find_declared(const char *name, bool compares)
{
    const struct osc_table_option *own = NULL;

    for (size_t i = 0; osc_tables[i] && !own; i++)
        own = (osc_tables[i]->comparison != NULL) == compares
                  ? osc_table_option(osc_tables[i], name)
                  : NULL;
    return own;
}

static void append_declared(const struct osc_table_option *own, unsigned commands,
                            const char *group)
{
    append(&(struct osc_option){.name = own->name,
                                .argument = own->argument,
                                .commands = commands,
                                .help = own->help,
                                .group = group,
                                .words = own->words},
           1);
}

/* Append what tables declare. Where the two kinds of tables mean different things by one word,
 * each command says what its own tables mean. */
static void append_own(void)
{
    const struct osc_table_option *own;

    for (size_t i = 0; (own = osc_tables_option_at(i)); i++) {
        const struct osc_table_option *const of_two = find_declared(own->name, true);
        const bool is_same = of_two && strcmp(of_two->help, own->help) == 0;

        append_declared(own, is_same ? ROWS : TABLE,
                        i == 0 ? "What only some tables take" : NULL);
        if (of_two && !is_same)
            append_declared(of_two, DIFF, NULL);
    }
}

const struct osc_option *osc_options_all(void)
{
    if (n_all == 0) {
        append(before, sizeof before / sizeof *before);
        append_own();
        append(behind, sizeof behind / sizeof *behind - 1); /* without its end */
    }
    return all;
}

/* Store option O with its argument VALUE; NULL if it has no argument. */
static int set_option(struct osc_args *a, const struct osc_option *o, const char *value)
{
    void *const to = (char *)a + (o->flag ? o->flag : o->text);
    struct osc_err err = {0};

    if (o->set)
        return o->set(a, value);
    if (o->flag)
        *(bool *)to = true;
    else if (o->text)
        *(const char **)to = value;
    else if (osc_request_set(&a->request, ~0u, o->name, value, &err) != OSC_OK)
        return osc_cli_misuse("%s", err.message);
    return OSC_EXIT_DONE;
}

/* A command line that is read from left to right. */
struct line {
    struct osc_args *args;
    char **words;
    int n, at; /* number of words, and the one being read */
};

/* The option of the command whose name is the LEN bytes at NAME, or NULL. */
static const struct osc_option *find_long(const struct line *l, const char *name, size_t len)
{
    for (const struct osc_option *o = osc_options_all(); o->name; o++) {
        if ((o->commands & l->args->command->bit) && strlen(o->name) == len &&
            memcmp(o->name, name, len) == 0)
            return o;
    }
    return NULL;
}

static const struct osc_option *find_letter(const struct line *l, char letter)
{
    for (const struct osc_option *o = osc_options_all(); o->name; o++) {
        if ((o->commands & l->args->command->bit) && o->letter == letter)
            return o;
    }
    return NULL;
}

bool osc_option_is(const struct osc_option *o, const char *word)
{
    const size_t len = strlen(o->name);

    if (strncmp(word, "--", 2) != 0)
        return word[0] == '-' && o->letter && word[1] == o->letter;
    return strcspn(word + 2, "=") == len && memcmp(o->name, word + 2, len) == 0;
}

const char *osc_option_owner(const char *word)
{
    const char *found = NULL;

    for (const struct osc_option *o = osc_options_all(); o->name; o++) {
        if (!osc_option_is(o, word))
            continue;
        if (o->commands & OSC_COMMAND_RUN)
            return "run";
        for (size_t i = 0; !found && osc_commands[i]; i++)
            found = o->commands & osc_commands[i]->bit ? osc_commands[i]->name : NULL;
        found = found ? found : "TRACE";
    }
    return found;
}

/* Report that NAME is not an option, and suggest a similar one, or the command that has it. */
static int no_option(const struct line *l, const char *name)
{
    const struct osc_command *const command = l->args->command;
    struct osc_nearest near = {.word = name};

    if (osc_renderer_find(name))
        return osc_cli_misuse("unknown option '--%s'; did you mean '--format %s'?", name, name);
    for (const struct osc_option *o = osc_options_all(); o->name; o++) {
        if (o->commands & command->bit)
            osc_nearest_try(&near, o->name);
    }
    if (near.best)
        return osc_cli_misuse("unknown option '--%s'; did you mean '--%s'?", name, near.best);
    const char *const owner = osc_option_owner(l->words[l->at]);
    if (owner)
        return osc_cli_misuse("'--%s' is an option of 'opscope %s'; see 'opscope %s --help'",
                              name, owner, command->name);
    return osc_cli_misuse("unknown option '--%s'; see 'opscope %s --help'", name,
                          command->name);
}

/* Read the next word as the argument of option WORD; NULL after a message. */
static const char *next_word(struct line *l, const char *word)
{
    const char *next = l->at + 1 < l->n ? l->words[l->at + 1] : NULL;

    if (!next) {
        osc_cli_error("option '%s' needs an argument; see 'opscope %s --help'", word,
                      l->args->command->name);
    } else if (strncmp(next, "--", 2) == 0 && find_long(l, next + 2, strcspn(next + 2, "="))) {
        osc_cli_error("option '%s' needs an argument, but '%s' is an option", word, next);
        next = NULL;
    }
    l->at += next != NULL;
    return next;
}

/* Read "--name", "--name=value" or "--name value". */
static int read_long(struct line *l)
{
    const char *const word = l->words[l->at], *const name = word + 2;
    const size_t len = strcspn(name, "=");
    const char *value = name[len] == '=' ? name + len + 1 : NULL;
    const struct osc_option *const o = find_long(l, name, len);
    char head[64];

    if (!o) {
        /* Prefixes of names are refused: a new option could make them ambiguous. */
        snprintf(head, sizeof head, "%.*s", (int)(len < 60 ? len : 60), name);
        return no_option(l, head);
    }
    if (!o->argument && value)
        return osc_cli_misuse("option '--%s' takes no argument", o->name);
    if (o->argument && !value) {
        value = osc_option_wants_argument(o) ? next_word(l, word) : "";
        if (!value)
            return OSC_EXIT_MISUSED;
    }
    return set_option(l->args, o, value);
}

/* Read "-a" or several as "-abc"; the last may have a value: "-n5", "-n 5". */
static int read_letters(struct line *l)
{
    const char *const word = l->words[l->at];
    int failed = OSC_EXIT_DONE;

    if (strlen(word) > 2 && find_long(l, word + 1, strcspn(word + 1, "=")))
        return osc_cli_misuse("unknown option '%s'; did you mean '-%s'?", word, word);
    for (const char *p = word + 1; *p && !failed; p++) {
        const struct osc_option *const o = find_letter(l, *p);
        const char *value = NULL;

        if (!o)
            return osc_cli_misuse("unknown option '-%.*s'; see 'opscope %s --help'",
                                  *p & 0x80 ? 4 : 1, p, l->args->command->name);
        if (o->argument) {
            value = p[1] ? p + 1 : next_word(l, word);
            if (!value)
                return OSC_EXIT_MISUSED;
            return set_option(l->args, o, value);
        }
        failed = set_option(l->args, o, NULL);
    }
    return failed;
}

int osc_args_parse(struct osc_args *args, const struct osc_command *command, int argc,
                   char **argv)
{
    struct line l = {.args = args, .words = argv, .n = argc};
    struct osc_err err = {0};
    bool is_over = false; /* "--" was read: all further words are operands */
    int failed = OSC_EXIT_DONE;

    *args = (struct osc_args){.command = command, .operands = argv + 1};
    for (l.at = 1; l.at < argc && !failed; l.at++) {
        char *const word = argv[l.at];

        if (is_over || word[0] != '-' || word[1] == '\0')
            args->operands[args->n_operands++] = word; /* over words that were read already */
        else if (strcmp(word, "--") == 0)
            is_over = true;
        else
            failed = word[1] == '-' ? read_long(&l) : read_letters(&l);
        is_over |= command->takes_program && args->n_operands > 0;
    }
    args->operands[args->n_operands] = NULL; /* like argv, and as exec() requires */
    if (!failed &&
        (osc_request_check(&args->request, &err) != OSC_OK ||
         osc_request_form(args->request.text.format, &args->renderer, &err) != OSC_OK))
        failed = osc_cli_misuse("%s", err.message);
    if (!failed && args->renderer->is_binary && !args->output && isatty(STDOUT_FILENO))
        failed = osc_cli_misuse("--format %s is no text for a terminal; send it to a file or a "
                                "pipe, as in '> rows.%s'",
                                args->renderer->name, args->renderer->name);
    return failed;
}
