/* SPDX-License-Identifier: Apache-2.0 */
/* `opscope table`: any table, in any form. */
#include "analysis/table_registry.h"
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/show.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "table/nearest.h"

#define LIST_INDENT 15
#define LIST_WIDTH  80

/* "word, " at COLUMN, on a new line if it is full. Returns the column behind it. */
static size_t add_word(struct osc_strbuf *out, const char *word, const char *after,
                       size_t column)
{
    if (column + strlen(word) + strlen(after) > LIST_WIDTH) {
        osc_strbuf_addc(out, '\n');
        osc_strbuf_pad(out, ' ', LIST_INDENT);
        column = LIST_INDENT;
    } else if (column > LIST_INDENT) {
        osc_strbuf_addc(out, ' ');
        column++;
    }
    osc_strbuf_adds(out, word);
    osc_strbuf_adds(out, after);
    return column + strlen(word) + strlen(after);
}

static void list_table(struct osc_strbuf *out, const struct osc_table_def *def)
{
    size_t column = LIST_INDENT;
    const char *last = "";

    osc_strbuf_addf(out, "%-*s", LIST_INDENT, def->name);
    for (const char *p = def->help; *p; p += strspn(p, " ")) {
        char word[64];
        const size_t len = strcspn(p, " ");

        snprintf(word, sizeof word, "%.*s", (int)len, p);
        column = add_word(out, word, "", column);
        p += len;
    }
    osc_strbuf_addc(out, '\n');
    osc_strbuf_pad(out, ' ', LIST_INDENT);
    column = add_word(out, "columns:", "", LIST_INDENT);
    for (uint32_t c = 0; c < def->n_columns; c++) {
        if (!(def->columns[c].flags & OSC_COLUMN_HIDDEN))
            last = def->columns[c].name;
    }
    for (uint32_t c = 0; c < def->n_columns; c++) {
        const struct osc_column *col = &def->columns[c];
        const bool is_last = col->name == last;

        if (col->flags & OSC_COLUMN_HIDDEN)
            continue;
        column = add_word(out, col->name,
                          col->flags & OSC_COLUMN_OPTIONAL ? (is_last ? "?" : "?,")
                                                           : (is_last ? "" : ","),
                          column);
    }
    osc_strbuf_addc(out, '\n');
    if (def->groupings && def->groupings[0]) {
        osc_strbuf_pad(out, ' ', LIST_INDENT);
        osc_strbuf_adds(out, "--group-by:");
        for (size_t i = 0; def->groupings[i]; i++)
            osc_strbuf_addf(out, " %s", def->groupings[i]);
        osc_strbuf_addc(out, '\n');
    }
}

static int show_list(const struct osc_table_def *only)
{
    struct osc_strbuf out = {0};
    int failed = OSC_EXIT_DONE;

    for (size_t i = 0; osc_tables[i]; i++) {
        if (!only || only == osc_tables[i])
            list_table(&out, osc_tables[i]);
    }
    if (!only)
        osc_strbuf_adds(&out, "\n? only with the option or the data it needs. What a column "
                              "means: opscope table NAME --explain COL\n");
    failed = out.status == OSC_OK ? osc_show_text(out.s)
                                  : osc_cli_fail(out.status, &(struct osc_err){0});
    osc_strbuf_fini(&out);
    return failed;
}

static int explain(const struct osc_table_def *def, const char *name)
{
    static const char *const types[] = {"string", "integer", "number", "boolean"};
    struct osc_strbuf out = {0};
    struct osc_err err = {0};
    int32_t index;
    const struct osc_column *c = osc_sheet_find(def, name, &index);
    int failed = OSC_EXIT_DONE;

    if (!c) {
        const osc_status st = osc_sheet_no_column(def, name, &err);

        return osc_cli_fail(st, &err);
    }
    osc_strbuf_addf(&out, "%s.%s (%s%s%s)\n", def->name, c->name, types[c->type],
                    c->unit ? ", " : "", c->unit ? c->unit : "");
    osc_sheet_add_help(&out, def, c);
    osc_strbuf_addc(&out, '\n');
    failed = out.status == OSC_OK ? osc_show_text(out.s)
                                  : osc_cli_fail(out.status, &(struct osc_err){0});
    osc_strbuf_fini(&out);
    return failed;
}

/*
 * The table that the first operand names, which is then taken off; else averages.
 * NULL after a message: it is neither a table nor a file.
 */
static const struct osc_table_def *choose_table(struct osc_args *args)
{
    const char *name = args->n_operands > 0 ? args->operands[0] : NULL;
    const struct osc_table_def *def = name ? osc_table_find(name) : NULL;
    struct osc_nearest near = {.word = name};

    if (def) {
        args->operands++;
        args->n_operands--;
        return def;
    }
    if (!name || strcmp(name, "-") == 0 || strchr(name, '/') || access(name, F_OK) == 0)
        return osc_table_find("averages");
    for (size_t i = 0; osc_tables[i]; i++)
        osc_nearest_try(&near, osc_tables[i]->name);
    if (!near.best && strchr(name, '.'))
        return osc_table_find("averages"); /* the importer says that there is no such file */
    if (near.best)
        osc_cli_error("'%s' is neither a table nor a file; did you mean '%s'?", name,
                      near.best);
    else
        osc_cli_error("'%s' is neither a table nor a file; 'opscope table --list' names the "
                      "tables",
                      name);
    return NULL;
}

/* The order is wrong if an operand behind the first is a table and no file. */
static int check_operands(const struct osc_args *args)
{
    for (int i = 0; i < args->n_operands; i++) {
        const char *name = args->operands[i];

        if (osc_table_find(name) && access(name, F_OK) != 0)
            return osc_cli_misuse("'%s' is a table and no file; one table goes before the "
                                  "traces: 'opscope table %s TRACE...'",
                                  name, name);
    }
    return OSC_EXIT_DONE;
}

static int show(struct osc_args *args, const struct osc_table_def *def)
{
    struct osc_loaded l = {0};
    int failed = OSC_EXIT_DONE;

    failed = osc_ask_load(&l, args, def);
    if (!failed)
        failed = osc_show_table(&l, args, def);
    if (!failed && !args->renderer->is_machine && def != &osc_table_quality)
        failed = osc_show_quality(&l);
    if (!failed && l.has_failed)
        failed = OSC_EXIT_FAILED;
    osc_loaded_fini(&l);
    return failed;
}

static int run(struct osc_args *args)
{
    const struct osc_table_def *def = NULL;
    struct osc_where *where = NULL;
    char **const first = args->operands;
    int failed = OSC_EXIT_DONE;

    def = choose_table(args);
    if (!def)
        return OSC_EXIT_MISUSED;
    if ((args->wants_list || args->explain) &&
        (args->given & UINT64_C(1) << OSC_OPTION_FORMAT) != 0)
        return osc_cli_misuse("--%s prints text, whatever the --format",
                              args->wants_list ? "list" : "explain");
    if (args->wants_list)
        return show_list(args->operands > first ? def : NULL);
    if (args->explain)
        return explain(def, args->explain);
    failed = check_operands(args);
    if (!failed)
        failed = osc_ask_check(args, def, &where);
    if (!failed && args->n_operands == 0)
        failed = osc_cli_misuse("which trace? 'opscope table %s trace.json' or see 'opscope "
                                "table --help'",
                                def->name);
    if (!failed)
        failed = show(args, def);
    osc_where_close(where);
    return failed;
}

const struct osc_command osc_command_table = {
    .name = "table",
    .bit = OSC_COMMAND_TABLE,
    .operands = "[NAME] [OPTION...] TRACE...",
    .summary = "print one table: as text, CSV, JSON or Markdown",
    .text = "Prints table NAME of the traces; without NAME averages, which is torch's\n"
            "key_averages().table(). 'opscope table --list' lists all. A file that is called\n"
            "like a table is ./NAME.\n",
    .examples =
        "  opscope table trace.json.gz --sort self_cpu_time_total --limit 10\n"
        "  opscope table averages --group-by shape trace.json.gz\n"
        "  opscope table kernels trace.json.gz          where the device spends its time\n"
        "  opscope table events t.json --from 10ms --to 12ms --format csv > events.csv\n"
        "  opscope table steps runs/ddp/ --rank 0-3     some ranks of a directory\n"
        "  opscope table kernels t.json --where 'calls > 9 and mean_ns < us(5)'\n"
        "  opscope table kernels --explain mean_ns      what a column means\n",
    .run = run,
};
