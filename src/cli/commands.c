/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands.h"

#include <string.h>

#include "cli/show.h"

const struct osc_command *const osc_commands[] = {
#define COMMAND_LINE(name) &osc_command_##name,
    OSC_COMMAND_LIST(COMMAND_LINE)
#undef COMMAND_LINE
#if OSC_WITH_VIEW
        & osc_command_view,
#endif
    NULL};

#define HELP_WIDTH  80
#define TABLES_MAX  6u /* that take an option and are named beside it */
#define HELP_INDENT 28

const struct osc_command *osc_command_find(const char *name)
{
    for (size_t i = 0; osc_commands[i]; i++) {
        if (strcmp(osc_commands[i]->name, name) == 0)
            return osc_commands[i];
    }
    return NULL;
}

/* Append TEXT, wrapped at spaces. The cursor is at COLUMN; further lines begin at INDENT. */
static void add_wrapped(struct osc_strbuf *out, const char *text, size_t column, size_t indent)
{
    while (*text) {
        const size_t len = strcspn(text, " ");

        if (column + len > HELP_WIDTH && column > indent) {
            while (out->len > 0 && out->s[out->len - 1] == ' ')
                out->s[--out->len] = '\0';
            osc_strbuf_addc(out, '\n');
            osc_strbuf_pad(out, ' ', indent);
            column = indent;
        }
        osc_strbuf_add(out, text, len);
        column += len + 1;
        text += len;
        if (*text) {
            osc_strbuf_addc(out, ' ');
            text++;
        }
    }
    osc_strbuf_addc(out, '\n');
}

void osc_help_all(struct osc_strbuf *out)
{
    osc_strbuf_adds(out, "opscope shows where the time of a tensor program goes.\n"
                         "\n"
                         "usage: opscope TRACE...\n"
                         "       opscope COMMAND [OPTION...] TRACE...\n"
                         "       opscope run [OPTION...] [--] PROGRAM [ARGUMENT...]\n"
                         "\n"
                         "commands:\n");
    for (size_t i = 0; osc_commands[i]; i++) {
        const size_t start = out->len;

        osc_strbuf_addf(out, "  %-9s ", osc_commands[i]->name);
        add_wrapped(out, osc_commands[i]->summary, out->len - start, 12);
    }
    osc_strbuf_adds(
        out, "  TRACE     without a command: print one screen\n"
             "  help      print the page of a command: opscope help table\n"
             "\n"
             "A TRACE is a recording of opscope (.osc), a file of PyTorch's profiler or any\n"
             "other in the Chrome format (.json, .json.gz, .json.zst), a directory of such\n"
             "files (one run), or - for standard input.\n"
             "\n"
             "examples:\n"
             "  opscope run -- python train.py       record a program\n"
             "  opscope trace.json.gz                one screen: where the time goes\n"
             "  opscope info trace.json.gz           what is in it, and what is missing\n"
             "  opscope table trace.json.gz          torch's key_averages().table()\n"
             "  opscope table kernels trace.json.gz  where the device spends its time\n"
             "  opscope table --list                 all tables and their columns\n"
             "\n"
             "options:\n"
             "  -h, --help     print this page\n"
             "  --version      print the version\n"
             "\n"
             "exit status: 0 success, 1 failure, 2 wrong usage\n");
}

static void add_option(struct osc_strbuf *out, const struct osc_option *o)
{
    const char *const field = osc_option_field(o);
    const size_t start = out->len;
    struct osc_strbuf help = {0};

    osc_strbuf_adds(&help, o->help);
    if (!osc_request_is_all(field)) {
        osc_strbuf_adds(&help, " (");
        if (osc_request_count_tables(field) > TABLES_MAX)
            osc_strbuf_adds(&help, "see --list");
        else
            osc_request_add_tables(&help, field);
        osc_strbuf_addc(&help, ')');
    }
    if (o->letter)
        osc_strbuf_addf(out, "  -%c, --%s", o->letter, o->name);
    else
        osc_strbuf_addf(out, "      --%s", o->name);
    if (o->argument)
        osc_strbuf_addf(out, *o->argument == '[' ? "%s" : " %s", o->argument);
    if (out->len - start + 2 > HELP_INDENT) {
        osc_strbuf_addc(out, '\n');
        osc_strbuf_pad(out, ' ', HELP_INDENT);
    } else {
        osc_strbuf_pad(out, ' ', HELP_INDENT - (out->len - start));
    }
    add_wrapped(out, help.status == OSC_OK ? help.s : o->help, HELP_INDENT, HELP_INDENT);
    osc_strbuf_fini(&help);
}

void osc_help_command(struct osc_strbuf *out, const struct osc_command *command)
{
    osc_strbuf_addf(out, "usage: opscope %s %s\n\n", command->name, command->operands);
    osc_strbuf_adds(out, command->text);
    osc_strbuf_addf(out, "\nexamples:\n%s", command->examples);
    for (const struct osc_option *o = osc_options_all(); o->name; o++) {
        if (o->group) {
            /* Print a title only if one of its options follows. */
            bool is_used = false;

            for (const struct osc_option *k = o; k->name && !is_used; k++) {
                if (k > o && k->group)
                    break;
                is_used = (k->commands & command->bit) != 0;
            }
            if (is_used)
                osc_strbuf_addf(out, "\n%s:\n", o->group);
        }
        if (o->commands & command->bit)
            add_option(out, o);
    }
}

int osc_help_show(const struct osc_command *command)
{
    struct osc_strbuf out = {0};
    int failed = OSC_EXIT_DONE;

    if (command)
        osc_help_command(&out, command);
    else
        osc_help_all(&out);
    if (out.status == OSC_OK)
        failed = osc_show_text(out.s);
    else
        failed = osc_cli_fail(out.status, &(struct osc_err){0});
    osc_strbuf_fini(&out);
    return failed;
}
