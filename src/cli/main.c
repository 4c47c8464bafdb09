/* SPDX-License-Identifier: Apache-2.0 */
/* opscope: find the command and run it, or report a wrong one. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analysis/table_registry.h"
#include "base/strbuf.h"
#include "cli/command_options.h"
#include "cli/commands.h"
#include "cli/log_dirs.h"
#include "cli/remote_files.h"
#include "cli/show.h"
#include "table/nearest.h"

static int no_command(const char *word)
{
    struct osc_nearest near = {.word = word};

    if (word[0] == '-' && word[1] != '\0') {
        const char *const owner = osc_option_owner(word);

        if (owner)
            return osc_cli_misuse("'%s' is an option of 'opscope %s'; see 'opscope --help'",
                                  word, owner);
        osc_nearest_try(&near, "--help");
        osc_nearest_try(&near, "--version");
        if (near.best)
            return osc_cli_misuse("unknown option '%s' before a command; did you mean '%s'?",
                                  word, near.best);
        return osc_cli_misuse("unknown option '%s' before a command; see 'opscope --help'",
                              word);
    }
    if (osc_table_find(word))
        return osc_cli_misuse("'%s' is a table: 'opscope table %s TRACE...'", word, word);
    for (size_t i = 0; osc_commands[i]; i++)
        osc_nearest_try(&near, osc_commands[i]->name);
    osc_nearest_try(&near, "help");
    if (near.best)
        return osc_cli_misuse("unknown command '%s'; did you mean '%s'?", word, near.best);
    return osc_cli_misuse("unknown command '%s'; see 'opscope --help'", word);
}

static int help(const char *name)
{
    if (name &&
        (strcmp(name, "help") == 0 || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0))
        name = NULL;
    const struct osc_command *command = name ? osc_command_find(name) : NULL;

    if (name && strcmp(name, osc_command_screen.name) == 0)
        command = &osc_command_screen;
    if (name && !command)
        return no_command(name);
    return osc_help_show(command);
}

/* Print a completion script; the build uses this to make the files that shells read. */
static int completion(const char *shell)
{
    struct osc_strbuf out = {0};
    int failed = OSC_EXIT_DONE;

    if (!shell || !osc_completion_write(&out, shell))
        return osc_cli_misuse("completion exists for bash, zsh and fish");
    failed = out.status == OSC_OK ? osc_show_text(out.s)
                                  : osc_cli_fail(out.status, &(struct osc_err){0});
    osc_strbuf_fini(&out);
    return failed;
}

/* Whether WORD, which is not a command, is a trace or an option of `opscope TRACE`. */
static bool begins_screen(const char *word)
{
    for (const struct osc_option *o = osc_options_all(); o->name; o++)
        if (o->commands & osc_command_screen.bit && osc_option_is(o, word))
            return true;
    /* A word that looks like a path is one, so that a typing error in it is reported as a
     * missing file. */
    return strcmp(word, "-") == 0 || strcmp(word, "--") == 0 ||
           (word[0] != '-' && (access(word, F_OK) == 0 || strpbrk(word, "./")));
}

static int run_command(const struct osc_command *command, int argc, char **argv)
{
    struct osc_args args;
    int failed = OSC_EXIT_DONE;

    osc_cli_set_command(command == &osc_command_screen ? NULL : command->name);
    failed = osc_args_parse(&args, command, argc, argv);
    if (failed)
        return failed;
    if (args.wants_help)
        return osc_help_show(command);
    if (!command->takes_program)
        failed = osc_remote_files_replace(&args);
    if (!failed && !command->chooses_run)
        failed = osc_log_dirs_choose(&args);
    if (!failed)
        failed = command->run(&args);
    osc_log_dirs_fini(&args);
    osc_remote_files_remove();
    return failed;
}

static int dispatch(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : NULL;
    const struct osc_command *command = word ? osc_command_find(word) : NULL;

    if (!word)
        return osc_cli_misuse(
            "no trace was named; try 'opscope trace.json' or see 'opscope --help'");
    if (command)
        return run_command(command, argc - 1, argv + 1);
    if (strcmp(word, "help") == 0)
        return help(argc > 2 ? argv[2] : NULL);
    if (strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0)
        return help(NULL);
    if (strcmp(word, "--version") == 0)
        return osc_show_text("opscope " OSC_VERSION "\n");
    if (strcmp(word, "completion") == 0)
        return completion(argc > 2 ? argv[2] : NULL);
    if (begins_screen(word))
        return run_command(&osc_command_screen, argc, argv);
    return no_command(word);
}

int main(int argc, char **argv)
{
    struct osc_err err = {0};

    osc_cli_start();
    const osc_status st = osc_tables_check(&err);
    return st == OSC_OK ? dispatch(argc, argv) : osc_cli_fail(st, &err);
}
