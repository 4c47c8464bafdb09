/* SPDX-License-Identifier: Apache-2.0 */
/* Completion scripts for bash and zsh, made from the lists of commands, options and columns. */
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

/* Append the pattern "--sort:*|-s:*" of option O: the option and the commands that have it. */
static void add_pattern(struct osc_strbuf *out, const struct osc_option *o)
{
    const bool is_alone = !has_namesake(o);
    const char *sep = "";

    for (size_t i = 0; osc_commands[i]; i++) {
        const char *const command = is_alone ? "*" : osc_commands[i]->name;

        if (!(o->commands & osc_commands[i]->bit))
            continue;
        osc_strbuf_addf(out, "%s--%s:%s", sep, o->name, command);
        if (o->letter)
            osc_strbuf_addf(out, "|-%c:%s", o->letter, command);
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

/* Append the branches of "case $prev:$command in", for arguments of options. */
static void add_bash_arguments(struct osc_strbuf *out)
{
    for (const struct osc_option *o = osc_options_all(); o->name; o++) {
        if (!osc_option_wants_argument(o))
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
                         "head= i\n"
                         "    local tables=\"");
    add_tables(out);
    osc_strbuf_adds(out, "\"\n    COMPREPLY=()\n"
                         "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
                         "        mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
                         "        COMPREPLY+=($(compgen -W \"");
    add_commands(out);
    osc_strbuf_adds(out, " help --help --version\" -- \"$cur\"))\n        return\n    fi\n"
                         "    for ((i = 2; i < ${#COMP_WORDS[@]}; i++)); do\n"
                         "        [ $i -eq $COMP_CWORD ] && continue\n"
                         "        case \" $tables \" in *\" ${COMP_WORDS[i]} \"*)\n"
                         "            table=${COMP_WORDS[i]} named=1\n"
                         "            break ;;\n"
                         "        esac\n"
                         "    done\n"
                         "    # --option=value comes as three words\n"
                         "    [ \"$cur\" = = ] && cur=\n"
                         "    [ \"$prev\" = = ] && prev=${COMP_WORDS[COMP_CWORD-2]}\n"
                         "    case $prev:$command in\n");
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
                         "        mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
                         "        [ \"$command\" = table ] && [ -z \"$named\" ] &&\n"
                         "            COMPREPLY+=($(compgen -W \"$tables\" -- \"$cur\"))\n"
                         "        ;;\n"
                         "    esac\n}\n\n"
                         "complete -o filenames -F _opscope opscope\n");
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
    const bool takes_word = osc_option_wants_argument(o);

    if (o->letter)
        osc_strbuf_addf(out, "'(-%c --%s)'{-%c,--%s%s}'[", o->letter, o->name, o->letter,
                        o->name, takes_word ? "=" : "");
    else
        osc_strbuf_addf(out, "'--%s%s[", o->name, takes_word ? "=" : "");
    add_zsh_text(out, o->help);
    osc_strbuf_addc(out, ']');
    if (takes_word) {
        osc_strbuf_addf(out, ":%s:", o->argument);
        add_zsh_action(out, o);
    }
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

bool osc_completion_write(struct osc_strbuf *out, const char *shell)
{
    if (strcmp(shell, "bash") == 0)
        write_bash(out);
    else if (strcmp(shell, "zsh") == 0)
        write_zsh(out);
    else
        return false;
    return true;
}
