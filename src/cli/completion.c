/* SPDX-License-Identifier: Apache-2.0 */
/* Scripts for bash and zsh, made of the tables of commands, options and columns. */
#include "cli/commands.h"

#include <string.h>

#include "analysis/registry.h"
#include "cli/options.h"

/* "a b c" of all tables. */
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

static void add_groupings(struct osc_strbuf *out, const struct osc_table_def *def)
{
    for (size_t i = 0; def->groupings && def->groupings[i]; i++)
        osc_strbuf_addf(out, "%s%s", i > 0 ? " " : "", def->groupings[i]);
}

/* The words that a shell function WHAT prints for each table. */
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

    for (size_t i = 0; i < OSC_OPTION_COUNT; i++) {
        if (!(osc_options[i].commands & command->bit))
            continue;
        osc_strbuf_addf(out, "%s--%s", sep, osc_options[i].name);
        sep = " ";
    }
}

/* "--sort|-s" of option O, and "-s" only if it has a letter. */
static void add_pattern(struct osc_strbuf *out, const struct osc_option *o)
{
    osc_strbuf_addf(out, "--%s", o->name);
    if (o->letter)
        osc_strbuf_addf(out, "|-%c", o->letter);
}

/* What completes the argument of O, as a shell word list in a quoted string. */
static void add_proposals(struct osc_strbuf *out, const struct osc_option *o)
{
    switch (o->completion) {
    case OSC_COMPLETE_NOTHING:
        break;
    case OSC_COMPLETE_SORT:
    case OSC_COMPLETE_COLUMN:
    case OSC_COMPLETE_COLUMNS:
        osc_strbuf_adds(out, "$(_opscope_columns \"$table\")");
        break;
    case OSC_COMPLETE_GROUPING:
        osc_strbuf_adds(out, "$(_opscope_groupings \"$table\")");
        break;
    case OSC_COMPLETE_WORDS:
        osc_strbuf_adds(out, o->words);
        break;
    }
}

static void write_bash(struct osc_strbuf *out)
{
    osc_strbuf_adds(out, "# bash completion of opscope; made by 'opscope completion bash'\n\n");
    add_case(out, "columns", add_columns);
    add_case(out, "groupings", add_groupings);
    osc_strbuf_adds(out, "_opscope()\n{\n"
                         "    local cur=${COMP_WORDS[COMP_CWORD]} "
                         "prev=${COMP_WORDS[COMP_CWORD-1]}\n"
                         "    local command=${COMP_WORDS[1]} table=averages word head=\n"
                         "    local tables=\"");
    add_tables(out);
    osc_strbuf_adds(out, "\"\n    COMPREPLY=()\n"
                         "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
                         "        COMPREPLY=($(compgen -W \"");
    for (size_t i = 0; osc_commands[i]; i++)
        osc_strbuf_addf(out, "%s ", osc_commands[i]->name);
    osc_strbuf_adds(out,
                    "help --help --version\" -- \"$cur\"))\n        return\n    fi\n"
                    "    for word in \"${COMP_WORDS[@]:2}\"; do\n"
                    "        case \" $tables \" in *\" $word \"*) table=$word; break ;; esac\n"
                    "    done\n"
                    "    # --option=value comes as three words\n"
                    "    [ \"$cur\" = = ] && cur=\n"
                    "    [ \"$prev\" = = ] && prev=${COMP_WORDS[COMP_CWORD-2]}\n"
                    "    case $prev in\n");
    for (size_t i = 0; i < OSC_OPTION_COUNT; i++) {
        const struct osc_option *o = &osc_options[i];

        if (!o->argument)
            continue;
        osc_strbuf_adds(out, "    ");
        add_pattern(out, o);
        osc_strbuf_adds(out, ")\n");
        if (o->completion == OSC_COMPLETE_COLUMNS)
            osc_strbuf_adds(out, "        case $cur in *,*) head=${cur%,*}, ;; esac\n");
        if (o->completion != OSC_COMPLETE_NOTHING) {
            osc_strbuf_adds(out, "        COMPREPLY=($(compgen -P \"$head\" -W \"");
            add_proposals(out, o);
            osc_strbuf_adds(out, "\" -- \"${cur#\"$head\"}\"))\n");
        }
        osc_strbuf_adds(out, "        return ;;\n");
    }
    osc_strbuf_adds(out, "    esac\n    case $command in\n");
    for (size_t i = 0; osc_commands[i]; i++) {
        osc_strbuf_addf(out, "    %s) word=\"", osc_commands[i]->name);
        add_option_names(out, osc_commands[i]);
        osc_strbuf_adds(out, "\" ;;\n");
    }
    osc_strbuf_adds(out, "    help) COMPREPLY=($(compgen -W \"");
    for (size_t i = 0; osc_commands[i]; i++)
        osc_strbuf_addf(out, "%s%s", i > 0 ? " " : "", osc_commands[i]->name);
    osc_strbuf_adds(out, "\" -- \"$cur\")); return ;;\n"
                         "    *) word= ;;\n"
                         "    esac\n"
                         "    case $cur in\n"
                         "    -*) COMPREPLY=($(compgen -W \"$word\" -- \"$cur\")) ;;\n"
                         "    *)\n"
                         "        COMPREPLY=($(compgen -f -- \"$cur\"))\n"
                         "        [ \"$command\" = table ] && [ \"$COMP_CWORD\" -eq 2 ] &&\n"
                         "            COMPREPLY+=($(compgen -W \"$tables\" -- \"$cur\"))\n"
                         "        ;;\n"
                         "    esac\n}\n\n"
                         "complete -o filenames -F _opscope opscope\n");
}

/* TEXT in single quotes inside a zsh specification: no quotes, brackets or colons. */
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

static void add_zsh_option(struct osc_strbuf *out, const struct osc_option *o)
{
    osc_strbuf_adds(out, "        ");
    if (o->letter)
        osc_strbuf_addf(out, "'(-%c --%s)'{-%c,--%s%s}'[", o->letter, o->name, o->letter,
                        o->name, o->argument ? "=" : "");
    else
        osc_strbuf_addf(out, "'--%s%s[", o->name, o->argument ? "=" : "");
    add_zsh_text(out, o->help);
    osc_strbuf_addc(out, ']');
    if (o->argument) {
        osc_strbuf_addf(out, ":%s:", o->argument);
        if (o->completion == OSC_COMPLETE_WORDS)
            osc_strbuf_addf(out, "(%s)", o->words);
        else if (o->completion == OSC_COMPLETE_GROUPING)
            osc_strbuf_adds(out, "{compadd -- ${=$(_opscope_groupings $table)}}");
        else if (o->completion == OSC_COMPLETE_COLUMNS)
            osc_strbuf_adds(out, "{_values -s , column ${=$(_opscope_columns $table)}}");
        else if (o->completion != OSC_COMPLETE_NOTHING)
            osc_strbuf_adds(out, "{compadd -- ${=$(_opscope_columns $table)}}");
        else
            osc_strbuf_addc(out, ' ');
    }
    osc_strbuf_adds(out, "' \\\n");
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
                         "    local command=$words[2] table=averages tables named word\n"
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
    osc_strbuf_adds(out, "            'help:print the page of a command')\n"
                         "        _describe command commands\n"
                         "        return\n"
                         "    fi\n"
                         "    for word in $words[3,-1]; do\n"
                         "        if [[ \" $tables \" = *\" $word \"* ]]; then\n"
                         "            table=$word named=1\n"
                         "            break\n"
                         "        fi\n"
                         "    done\n"
                         "    shift words\n"
                         "    (( CURRENT-- ))\n"
                         "    case $command in\n");
    for (size_t i = 0; osc_commands[i]; i++) {
        osc_strbuf_addf(out, "    %s) _arguments -S \\\n", osc_commands[i]->name);
        for (size_t k = 0; k < OSC_OPTION_COUNT; k++) {
            if (osc_options[k].commands & osc_commands[i]->bit)
                add_zsh_option(out, &osc_options[k]);
        }
        osc_strbuf_adds(out, "        '*:trace:_opscope_operand' ;;\n");
    }
    osc_strbuf_adds(out, "    help) compadd --");
    for (size_t i = 0; osc_commands[i]; i++)
        osc_strbuf_addf(out, " %s", osc_commands[i]->name);
    osc_strbuf_adds(out, " ;;\n    esac\n}\n\n_opscope \"$@\"\n");
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
