/* SPDX-License-Identifier: Apache-2.0 */
/* Completion scripts for bash, zsh and fish, made from the lists of commands, options and
 * columns. */
#include "cli/commands.h"

#include <string.h>

#include "analysis/table_registry.h"
#include "cli/command_options.h"

/* Append "a b c", the names of all tables. */
static void add_tables(struct osc_strbuf *out)
{
    for (size_t i = 0; osc_tables[i]; i++)
        osc_strbuf_addf(out, "%s%s", i > 0 ? " " : "", osc_tables[i]->name);
}

static void add_columns(struct osc_strbuf *out, const struct osc_table_def *def)
{
    const char *sep = "";

    for (uint32_t c = 0; c < def->n_columns; c++) {
        if (def->columns[c].flags & OSC_COLUMN_HIDDEN)
            continue;
        osc_strbuf_addf(out, "%s%s", sep, def->columns[c].name);
        sep = " ";
    }
}

/* Append the groupings of DEF, with a number where one is required, so that each can be run. */
static void add_groupings(struct osc_strbuf *out, const struct osc_table_def *def)
{
    for (size_t i = 0; def->groupings && def->groupings[i]; i++) {
        const char *const name = def->groupings[i];
        const size_t key = strcspn(name, ":");

        osc_strbuf_addf(out, "%s%.*s%s", i > 0 ? " " : "", (int)key, name,
                        name[key] ? ":5" : "");
    }
}

/* Append the options of table DEF. */
static void add_table_options(struct osc_strbuf *out, const struct osc_table_def *def)
{
    const char *sep = "";

    for (const struct osc_option *o = osc_options_all(); o->name; o++) {
        if (!(o->commands & OSC_COMMAND_TABLE) || !osc_request_is_for(osc_option_field(o), def))
            continue;
        osc_strbuf_addf(out, "%s--%s", sep, o->name);
        sep = " ";
    }
}

/* Append the shell function WHAT, which prints WORDS of a table. */
static void add_case(struct osc_strbuf *out, const char *what,
                     void (*words)(struct osc_strbuf *, const struct osc_table_def *))
{
    osc_strbuf_addf(out, "_opscope_%s()\n{\n    case $1 in\n", what);
    for (size_t i = 0; osc_tables[i]; i++) {
        osc_strbuf_addf(out, "    %s) echo \"", osc_tables[i]->name);
        words(out, osc_tables[i]);
        osc_strbuf_adds(out, "\" ;;\n");
    }
    osc_strbuf_adds(out, "    esac\n}\n\n");
}

static void add_option_names(struct osc_strbuf *out, const struct osc_command *command)
{
    const char *sep = "";

    for (const struct osc_option *o = osc_options_all(); o->name; o++) {
        if (!(o->commands & command->bit))
            continue;
        osc_strbuf_addf(out, "%s--%s", sep, o->name);
        sep = " ";
    }
}

/* Whether an option of another command has the same name as O. */
static bool has_namesake(const struct osc_option *o)
{
    for (const struct osc_option *other = osc_options_all(); other->name; other++) {
        if (other != o &&
            (strcmp(other->name, o->name) == 0 || (o->letter && other->letter == o->letter)))
            return true;
    }
    return false;
}

/* Append the pattern "--sort:*:*|-s:*:*" of option O: the option, the commands that have it,
 * and whether a '=' follows, as before an optional argument. */
static void add_pattern(struct osc_strbuf *out, const struct osc_option *o)
{
    const bool is_alone = !has_namesake(o);
    const char *const joined = osc_option_wants_argument(o) ? "*" : "1";
    const char *sep = "";

    for (size_t i = 0; osc_commands[i]; i++) {
        const char *const command = is_alone ? "*" : osc_commands[i]->name;

        if (!(o->commands & osc_commands[i]->bit))
            continue;
        osc_strbuf_addf(out, "%s--%s:%s:%s", sep, o->name, command, joined);
        if (o->letter)
            osc_strbuf_addf(out, "|-%c:%s:%s", o->letter, command, joined);
        if (is_alone)
            break;
        sep = "|";
    }
}

/* Append the completions of O's argument as a list of words in a quoted shell string. */
static void add_proposals(struct osc_strbuf *out, const struct osc_option *o)
{
    switch (o->completion) {
    case OSC_COMPLETE_NOTHING:
        osc_strbuf_adds(out, o->words);
        break;
    case OSC_COMPLETE_FILE:
        break;
    case OSC_COMPLETE_TABLE:
        osc_strbuf_adds(out, "$tables");
        break;
    case OSC_COMPLETE_SORT:
    case OSC_COMPLETE_COLUMN:
    case OSC_COMPLETE_COLUMNS:
        osc_strbuf_adds(out, "$(_opscope_columns \"$table\")");
        break;
    case OSC_COMPLETE_GROUPING:
        osc_strbuf_adds(out, "$(_opscope_groupings \"$table\")");
        break;
    }
}

/* Append the branches of "case $prev:$command:$joined in", for arguments of options. */
static void add_bash_arguments(struct osc_strbuf *out)
{
    for (const struct osc_option *o = osc_options_all(); o->name; o++) {
        if (!o->argument)
            continue;
        osc_strbuf_adds(out, "    ");
        add_pattern(out, o);
        osc_strbuf_adds(out, ")\n");
        if (o->completion == OSC_COMPLETE_COLUMNS)
            osc_strbuf_adds(out, "        case $cur in *,*) head=${cur%,*}, ;; esac\n");
        if (o->completion == OSC_COMPLETE_FILE) {
            osc_strbuf_adds(out, "        mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n");
        } else if (o->completion != OSC_COMPLETE_NOTHING || o->words) {
            osc_strbuf_adds(out, "        COMPREPLY=($(compgen -P \"$head\" -W \"");
            add_proposals(out, o);
            osc_strbuf_adds(out, "\" -- \"${cur#\"$head\"}\"))\n");
        }
        osc_strbuf_adds(out, "        return ;;\n");
    }
}

static void add_commands(struct osc_strbuf *out)
{
    for (size_t i = 0; osc_commands[i]; i++)
        osc_strbuf_addf(out, "%s%s", i > 0 ? " " : "", osc_commands[i]->name);
}

static void write_bash(struct osc_strbuf *out)
{
    osc_strbuf_adds(out, "# bash completion of opscope; made by 'opscope completion bash'\n\n");
    add_case(out, "columns", add_columns);
    add_case(out, "groupings", add_groupings);
    add_case(out, "options", add_table_options);
    osc_strbuf_adds(out, "_opscope()\n{\n"
                         "    local cur=${COMP_WORDS[COMP_CWORD]} "
                         "prev=${COMP_WORDS[COMP_CWORD-1]}\n"
                         "    local command=${COMP_WORDS[1]} table=averages named= words= "
                         "head= joined= i\n"
                         "    local tables=\"");
    add_tables(out);
    osc_strbuf_adds(out, "\"\n    COMPREPLY=()\n"
                         "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
                         "        COMPREPLY=($(compgen -W \"");
    add_commands(out);
    osc_strbuf_adds(out, " help --help --version\" -- \"$cur\"))\n"
                         "        mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "
                         "\"$cur\")\n"
                         "        return\n    fi\n"
                         "    for ((i = 2; i < ${#COMP_WORDS[@]}; i++)); do\n"
                         "        [ $i -eq $COMP_CWORD ] && continue\n"
                         "        case \" $tables \" in *\" ${COMP_WORDS[i]} \"*)\n"
                         "            table=${COMP_WORDS[i]} named=1\n"
                         "            break ;;\n"
                         "        esac\n"
                         "    done\n"
                         "    # --option=value comes as three words\n"
                         "    [ \"$cur\" = = ] && cur= joined=1\n"
                         "    [ \"$prev\" = = ] && prev=${COMP_WORDS[COMP_CWORD-2]} joined=1\n"
                         "    case $prev:$command:$joined in\n");
    add_bash_arguments(out);
    osc_strbuf_adds(out, "    esac\n    case $command in\n"
                         "    table) words=$(_opscope_options \"$table\") ;;\n");
    for (size_t i = 0; osc_commands[i]; i++) {
        if (osc_commands[i]->bit == OSC_COMMAND_TABLE)
            continue;
        osc_strbuf_addf(out, "    %s) words=\"", osc_commands[i]->name);
        add_option_names(out, osc_commands[i]);
        osc_strbuf_adds(out, "\" ;;\n");
    }
    osc_strbuf_adds(out, "    help)\n"
                         "        [ \"$COMP_CWORD\" -eq 2 ] && COMPREPLY=($(compgen -W \"");
    add_commands(out);
    osc_strbuf_adds(out, "\" -- \"$cur\"))\n"
                         "        return ;;\n"
                         "    *) words=\"");
    add_option_names(out, &osc_command_screen);
    osc_strbuf_adds(out, "\" ;;\n"
                         "    esac\n"
                         "    case $cur in\n"
                         "    -*) COMPREPLY=($(compgen -W \"$words\" -- \"$cur\")) ;;\n"
                         "    *)\n"
                         "        [ \"$command\" = table ] && [ -z \"$named\" ] &&\n"
                         "            COMPREPLY=($(compgen -W \"$tables\" -- \"$cur\"))\n"
                         "        mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "
                         "\"$cur\")\n"
                         "        ;;\n"
                         "    esac\n}\n\n"
                         "complete -o nosort -o filenames -F _opscope opscope\n");
}

/* Append TEXT for single quotes in a zsh specification; escapes quotes, brackets and colons. */
static void add_zsh_text(struct osc_strbuf *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            osc_strbuf_adds(out, "'\\''");
        else if (*text == '[' || *text == ']' || *text == ':')
            osc_strbuf_addf(out, "\\%c", *text);
        else
            osc_strbuf_addc(out, *text);
    }
}

/* Append the action after the colon, which completes the argument of O. */
static void add_zsh_action(struct osc_strbuf *out, const struct osc_option *o)
{
    switch (o->completion) {
    case OSC_COMPLETE_NOTHING:
        osc_strbuf_addf(out, o->words ? "(%s)" : " ", o->words);
        break;
    case OSC_COMPLETE_SORT:
    case OSC_COMPLETE_COLUMN:
        osc_strbuf_adds(out, "{compadd -- ${=$(_opscope_columns $table)}}");
        break;
    case OSC_COMPLETE_COLUMNS:
        osc_strbuf_adds(out, "{_values -s , column ${=$(_opscope_columns $table)}}");
        break;
    case OSC_COMPLETE_GROUPING:
        osc_strbuf_adds(out, "{compadd -- ${=$(_opscope_groupings $table)}}");
        break;
    case OSC_COMPLETE_TABLE:
        osc_strbuf_adds(out, "{compadd -- ${=tables}}");
        break;
    case OSC_COMPLETE_FILE:
        osc_strbuf_adds(out, "_files");
        break;
    }
}

static void add_zsh_option(struct osc_strbuf *out, const struct osc_option *o)
{
    const bool is_optional = o->argument && !osc_option_wants_argument(o);
    const char *const joint = is_optional ? "=-" : o->argument ? "=" : "";

    if (o->letter)
        osc_strbuf_addf(out, "'(-%c --%s)'{-%c,--%s%s}'[", o->letter, o->name, o->letter,
                        o->name, joint);
    else
        osc_strbuf_addf(out, "'--%s%s[", o->name, joint);
    add_zsh_text(out, o->help);
    osc_strbuf_addc(out, ']');
    if (is_optional)
        osc_strbuf_addf(out, "::%.*s:", (int)strcspn(o->argument + 2, "]"), o->argument + 2);
    else if (o->argument)
        osc_strbuf_addf(out, ":%s:", o->argument);
    if (o->argument)
        add_zsh_action(out, o);
    osc_strbuf_addc(out, '\'');
}

/* Append "a|b|c", the tables to which option O applies. */
static void add_zsh_tables(struct osc_strbuf *out, const struct osc_option *o)
{
    const char *sep = "";

    for (size_t i = 0; osc_tables[i]; i++) {
        if (!osc_request_is_for(osc_option_field(o), osc_tables[i]))
            continue;
        osc_strbuf_addf(out, "%s%s", sep, osc_tables[i]->name);
        sep = "|";
    }
}

/* Append code that fills the array `specs` with the options of COMMAND, without those that
 * apply only to other tables. */
static void add_zsh_command(struct osc_strbuf *out, const struct osc_command *command)
{
    const bool is_screen = command == &osc_command_screen;

    osc_strbuf_addf(out, "    %s)\n        specs=(\n", is_screen ? "*" : command->name);
    for (const struct osc_option *o = osc_options_all(); o->name; o++) {
        if (!(o->commands & command->bit) ||
            !(is_screen || osc_request_is_all(osc_option_field(o))))
            continue;
        osc_strbuf_adds(out, "            ");
        add_zsh_option(out, o);
        osc_strbuf_addc(out, '\n');
    }
    osc_strbuf_adds(out, "        )\n");
    for (const struct osc_option *o = osc_options_all(); o->name; o++) {
        if (!(o->commands & command->bit) || is_screen ||
            osc_request_is_all(osc_option_field(o)))
            continue;
        osc_strbuf_adds(out, "        case $table in ");
        add_zsh_tables(out, o);
        osc_strbuf_adds(out, ") specs+=(");
        add_zsh_option(out, o);
        osc_strbuf_adds(out, ") ;; esac\n");
    }
    osc_strbuf_adds(out, "        _arguments -s -S $specs '*:trace:_opscope_operand' ;;\n");
}

static void write_zsh(struct osc_strbuf *out)
{
    osc_strbuf_adds(out, "#compdef opscope\n"
                         "# zsh completion of opscope; made by 'opscope completion zsh'\n\n");
    add_case(out, "columns", add_columns);
    add_case(out, "groupings", add_groupings);
    osc_strbuf_adds(out, "_opscope_operand()\n{\n"
                         "    [[ $command = table && -z $named ]] && compadd -- ${=tables}\n"
                         "    _files\n}\n\n"
                         "_opscope()\n{\n"
                         "    local command=$words[2] table=averages tables named i\n"
                         "    local -a specs\n"
                         "    tables=\"");
    add_tables(out);
    osc_strbuf_adds(out, "\"\n"
                         "    if (( CURRENT == 2 )); then\n"
                         "        local -a commands=(\n");
    for (size_t i = 0; osc_commands[i]; i++) {
        osc_strbuf_addf(out, "            '%s:", osc_commands[i]->name);
        add_zsh_text(out, osc_commands[i]->summary);
        osc_strbuf_adds(out, "'\n");
    }
    osc_strbuf_adds(out, "            'help:print the page of a command'\n"
                         "            '--help:print the page of all commands'\n"
                         "            '--version:print the version')\n"
                         "        _describe command commands\n"
                         "        _files\n"
                         "        return\n"
                         "    fi\n"
                         "    for (( i = 3; i <= $#words; i++ )); do\n"
                         "        if (( i != CURRENT )) && "
                         "[[ \" $tables \" = *\" $words[i] \"* ]]; then\n"
                         "            table=$words[i] named=1\n"
                         "            break\n"
                         "        fi\n"
                         "    done\n"
                         "    shift words\n"
                         "    (( CURRENT-- ))\n"
                         "    case $command in\n");
    for (size_t i = 0; osc_commands[i]; i++)
        add_zsh_command(out, osc_commands[i]);
    osc_strbuf_adds(out, "    help) (( CURRENT == 2 )) && compadd -- ");
    add_commands(out);
    osc_strbuf_adds(out, " ;;\n");
    add_zsh_command(out, &osc_command_screen);
    osc_strbuf_adds(out, "    esac\n}\n\n_opscope \"$@\"\n");
}

/* Append TEXT for single quotes in fish. */
static void add_fish_text(struct osc_strbuf *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\')
            osc_strbuf_addc(out, '\\');
        osc_strbuf_addc(out, *text);
    }
}

/* Append the function WHAT, which prints WORDS of the table of the command line, one a line. */
static void add_fish_words(struct osc_strbuf *out, const char *what,
                           void (*words)(struct osc_strbuf *, const struct osc_table_def *))
{
    osc_strbuf_addf(out, "function __opscope_%s\n    switch (__opscope_table)\n", what);
    for (size_t i = 0; osc_tables[i]; i++) {
        osc_strbuf_addf(out, "        case %s\n            string split ' ' '",
                        osc_tables[i]->name);
        words(out, osc_tables[i]);
        osc_strbuf_adds(out, "'\n");
    }
    osc_strbuf_adds(out, "    end\nend\n\n");
}

/* Append -a '...' of the words that complete the argument of O, and whether files do. */
static void add_fish_argument(struct osc_strbuf *out, const struct osc_option *o)
{
    if (osc_option_wants_argument(o))
        osc_strbuf_adds(out, " -r");
    if (o->completion != OSC_COMPLETE_FILE)
        osc_strbuf_adds(out, " -f");
    switch (o->completion) {
    case OSC_COMPLETE_NOTHING:
        if (o->words)
            osc_strbuf_addf(out, " -a '%s'", o->words);
        break;
    case OSC_COMPLETE_FILE:
        break;
    case OSC_COMPLETE_TABLE:
        osc_strbuf_adds(out, " -a '$__opscope_tables'");
        break;
    case OSC_COMPLETE_COLUMNS:
        osc_strbuf_adds(out, " -a '(__fish_append , (__opscope_columns))'");
        break;
    case OSC_COMPLETE_SORT:
    case OSC_COMPLETE_COLUMN:
        osc_strbuf_adds(out, " -a '(__opscope_columns)'");
        break;
    case OSC_COMPLETE_GROUPING:
        osc_strbuf_adds(out, " -a '(__opscope_groupings)'");
        break;
    }
}

/* Append the line of O, for the commands that have it. */
static void add_fish_option(struct osc_strbuf *out, const struct osc_option *o)
{
    osc_strbuf_adds(out, "complete -c opscope -n '__opscope_is");
    for (size_t i = 0; osc_commands[i]; i++)
        if (o->commands & osc_commands[i]->bit)
            osc_strbuf_addf(out, " %s", osc_commands[i]->name);
    if (o->commands & osc_command_screen.bit)
        osc_strbuf_adds(out, " -");
    osc_strbuf_addf(out, "' -l %s", o->name);
    if (o->letter)
        osc_strbuf_addf(out, " -s %c", o->letter);
    if (o->argument)
        add_fish_argument(out, o);
    osc_strbuf_adds(out, " -d '");
    add_fish_text(out, o->help);
    osc_strbuf_adds(out, "'\n");
}

static void write_fish(struct osc_strbuf *out)
{
    osc_strbuf_adds(out, "# fish completion of opscope; made by 'opscope completion fish'\n\n"
                         "set -g __opscope_commands ");
    add_commands(out);
    osc_strbuf_adds(out, " help\nset -g __opscope_tables ");
    add_tables(out);
    osc_strbuf_adds(out,
                    "\n\n# Whether the command is one of the arguments; -: there is none.\n"
                    "function __opscope_is\n"
                    "    set -l words (commandline -opc)\n"
                    "    set -l command -\n"
                    "    if set -q words[2]; and contains -- $words[2] "
                    "$__opscope_commands\n"
                    "        set command $words[2]\n"
                    "    end\n"
                    "    contains -- $command $argv\nend\n\n"
                    "# The table that the command line names.\n"
                    "function __opscope_table\n"
                    "    for word in (commandline -opc)[3..-1]\n"
                    "        if contains -- $word $__opscope_tables\n"
                    "            echo $word\n"
                    "            return\n"
                    "        end\n"
                    "    end\n"
                    "    echo averages\nend\n\n"
                    "function __opscope_wants_table\n"
                    "    __opscope_is table; or return\n"
                    "    for word in (commandline -opc)[3..-1]\n"
                    "        contains -- $word $__opscope_tables; and return 1\n"
                    "    end\n"
                    "    return 0\nend\n\n");
    add_fish_words(out, "columns", add_columns);
    add_fish_words(out, "groupings", add_groupings);
    osc_strbuf_adds(out, "function __opscope_list\n    printf '%s\\t%s\\n'");
    for (size_t i = 0; osc_commands[i]; i++) {
        osc_strbuf_addf(out, " %s '", osc_commands[i]->name);
        add_fish_text(out, osc_commands[i]->summary);
        osc_strbuf_addc(out, '\'');
    }
    osc_strbuf_adds(out, " help 'print the page of a command'\nend\n\n"
                         "complete -c opscope -n __fish_is_first_token -k -a "
                         "'(__opscope_list)'\n"
                         "complete -c opscope -n __fish_is_first_token -l version -d 'print "
                         "the version'\n"
                         "complete -c opscope -n '__opscope_is help' -f -a "
                         "'$__opscope_commands'\n"
                         "complete -c opscope -n __opscope_wants_table -a "
                         "'$__opscope_tables'\n");
    for (const struct osc_option *o = osc_options_all(); o->name; o++)
        add_fish_option(out, o);
}

bool osc_completion_write(struct osc_strbuf *out, const char *shell)
{
    if (strcmp(shell, "bash") == 0)
        write_bash(out);
    else if (strcmp(shell, "zsh") == 0)
        write_zsh(out);
    else if (strcmp(shell, "fish") == 0)
        write_fish(out);
    else
        return false;
    return true;
}
