/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/reference.h"

#include <ctype.h>
#include <string.h>

#include "analysis/table_registry.h"
#include "api/tables_json.h"
#include "ask/request.h"
#include "cli/cli.h"
#include "cli/show.h"
#include "model/finding.h"
#include "table/row_groups.h"
#include "table/rules.h"
#include "table/sheet.h"

#define LIST_INDENT 17 /* behind the longest name of a table */
#define WIDTH       80

static const char *const type_names[] = {"string", "integer", "number", "boolean"};

/* Append WORD at COLUMN, or on a new line indented by INDENT if it does not fit. Returns the
 * column where it ends. */
static size_t add_word(struct osc_strbuf *out, struct osc_str word, size_t indent,
                       size_t column)
{
    if (column > indent && column + 1 + word.len > WIDTH) {
        osc_strbuf_addc(out, '\n');
        osc_strbuf_pad(out, ' ', indent);
        column = indent;
    } else if (column > indent) {
        osc_strbuf_addc(out, ' ');
        column++;
    }
    osc_strbuf_addstr(out, word);
    return column + word.len;
}

/* Append TEXT in lines indented by INDENT; the first line is indented already. */
static void add_wrapped(struct osc_strbuf *out, const char *text, size_t indent)
{
    size_t column = indent;

    for (const char *p = text; *p; p += strspn(p, " ")) {
        const size_t len = strcspn(p, " ");

        column = add_word(out, (struct osc_str){p, (uint32_t)len}, indent, column);
        p += len;
    }
    osc_strbuf_addc(out, '\n');
}

/* Print OUT, and release it. */
static int show(struct osc_strbuf *out)
{
    const int failed = out->status == OSC_OK ? osc_show_text(out->s)
                                             : osc_cli_fail(out->status, &(struct osc_err){0});

    osc_strbuf_fini(out);
    return failed;
}

static void list_table(struct osc_strbuf *out, const struct osc_table_def *def)
{
    struct osc_strbuf columns = {0};

    osc_strbuf_addf(out, "%-*s", LIST_INDENT, def->name);
    add_wrapped(out, def->help, LIST_INDENT);
    osc_strbuf_adds(&columns, "columns: ");
    for (uint32_t c = 0, n = 0; c < def->n_columns; c++) {
        const struct osc_column *const col = &def->columns[c];

        if (col->flags & OSC_COLUMN_HIDDEN)
            continue;
        osc_strbuf_addf(&columns, "%s%s%s", n++ > 0 ? ", " : "", col->name,
                        col->flags & OSC_COLUMN_OPTIONAL ? "?" : "");
    }
    osc_strbuf_pad(out, ' ', LIST_INDENT);
    add_wrapped(out, columns.status == OSC_OK ? columns.s : "", LIST_INDENT);
    if (columns.status != OSC_OK)
        out->status = columns.status;
    osc_strbuf_fini(&columns);
    if (osc_request_is_for("group-by", def)) {
        osc_strbuf_pad(out, ' ', LIST_INDENT);
        osc_strbuf_adds(out, "--group-by:");
        for (size_t i = 0; def->groupings && def->groupings[i]; i++)
            osc_strbuf_addf(out, " %s", def->groupings[i]);
        if (osc_pattern_column(def) >= 0)
            osc_strbuf_adds(out, " name~PATTERN");
        osc_strbuf_addc(out, '\n');
    }
    if (def->options) {
        osc_strbuf_pad(out, ' ', LIST_INDENT);
        osc_strbuf_adds(out, "options:");
        for (size_t i = 0; def->options[i]; i++)
            osc_strbuf_addf(out, " --%s", def->options[i]->name);
        osc_strbuf_addc(out, '\n');
    }
}

int osc_reference_list(const struct osc_table_def *only)
{
    struct osc_strbuf out = {0};

    for (size_t i = 0; osc_tables[i]; i++) {
        if (!only || only == osc_tables[i])
            list_table(&out, osc_tables[i]);
    }
    if (!only)
        osc_strbuf_adds(&out, "\n? only with the option or the data it needs. What a column "
                              "means: opscope table NAME --explain COL\n");
    return show(&out);
}

static uint64_t rules_of(const struct osc_table_def *def, const struct osc_column *c)
{
    return c->rules ? c->rules : def->rules;
}

static void add_source(struct osc_strbuf *out, const char *source)
{
    struct osc_strbuf text = {0};

    osc_strbuf_addf(&text, "Source: %s", source);
    add_wrapped(out, text.status == OSC_OK ? text.s : "", 0);
    if (text.status != OSC_OK)
        out->status = text.status;
    osc_strbuf_fini(&text);
}

/* Append the anchor of RULE in Markdown: its title in lower case, with hyphens. */
static void add_anchor(struct osc_strbuf *out, const struct osc_rule_text *rule)
{
    for (const char *p = rule->title; *p; p++)
        osc_strbuf_addc(out, (char)(*p == ' ' ? '-' : tolower((unsigned char)*p)));
}

/* Append RULE as a paragraph of its own, under its heading on that page. */
static void explain_rule(struct osc_strbuf *out, const struct osc_rule_text *rule)
{
    osc_strbuf_addf(out, "\nRule: %s (numbers.md#", rule->title);
    add_anchor(out, rule);
    osc_strbuf_addf(out, ")\n%s", rule->text);
    add_source(out, rule->source);
}

int osc_reference_explain(const struct osc_table_def *def, const char *name)
{
    struct osc_strbuf out = {0}, help = {0};
    struct osc_err err = {0};
    int32_t index;
    const struct osc_column *const c = osc_sheet_find(def, name, &index);

    if (!c) {
        const osc_status st = osc_sheet_no_column(def, name, &err);

        return osc_cli_fail(st, &err);
    }
    osc_strbuf_addf(&out, "%s.%s (%s%s%s)\n", def->name, c->name, type_names[c->type],
                    c->unit ? ", " : "", c->unit ? c->unit : "");
    osc_sheet_add_help(&help, def, c);
    add_wrapped(&out, help.status == OSC_OK ? help.s : "", 0);
    if (help.status != OSC_OK)
        out.status = help.status;
    osc_strbuf_fini(&help);
    for (const struct osc_rule_text *r = osc_rules; r->rule; r++) {
        if (rules_of(def, c) & r->rule)
            explain_rule(&out, r);
    }
    return show(&out);
}

/* Append TEXT as a cell of a Markdown table. */
static void add_cell(struct osc_strbuf *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '|')
            osc_strbuf_addc(out, '\\');
        osc_strbuf_addc(out, *text);
    }
}

static void add_rule_links(struct osc_strbuf *out, uint64_t rules)
{
    uint32_t n = 0;

    for (const struct osc_rule_text *r = osc_rules; r->rule; r++) {
        if (!(rules & r->rule))
            continue;
        osc_strbuf_addf(out, "%s[%s](#", n++ > 0 ? ", " : "", r->title);
        add_anchor(out, r);
        osc_strbuf_addc(out, ')');
    }
}

static void page_rules(struct osc_strbuf *out)
{
    osc_strbuf_adds(out, "\n## Rules\n");
    for (const struct osc_rule_text *r = osc_rules; r->rule; r++) {
        osc_strbuf_addf(out, "\n### %s\n\n%s\n", r->title, r->text);
        add_source(out, r->source);
    }
}

static void page_column(struct osc_strbuf *out, const struct osc_table_def *def,
                        const struct osc_column *c)
{
    static const char *const merges[] = {
        [OSC_MERGE_KEY] = "key",         [OSC_MERGE_FIRST] = "first",
        [OSC_MERGE_SUM] = "sum",         [OSC_MERGE_MIN] = "smallest",
        [OSC_MERGE_MAX] = "largest",     [OSC_MERGE_OR] = "any",
        [OSC_MERGE_JOIN] = "all",        [OSC_MERGE_BUCKETS] = "buckets",
        [OSC_MERGE_FINISH] = "computed",
    };

    osc_strbuf_addf(out, "| `%s`%s | %s%s%s | ", c->name,
                    c->flags & OSC_COLUMN_OPTIONAL ? "?" : "", type_names[c->type],
                    c->unit ? ", " : "", c->unit ? c->unit : "");
    add_cell(out, c->help);
    if (c->source) {
        osc_strbuf_adds(out, " Source: ");
        add_cell(out, c->source);
    }
    osc_strbuf_adds(out, " | ");
    add_rule_links(out, rules_of(def, c));
    osc_strbuf_addf(out, " | %s |\n", merges[c->merge]);
}

static void page_table(struct osc_strbuf *out, const struct osc_table_def *def)
{
    osc_strbuf_addf(out, "\n### Table %s\n\n", def->name);
    add_wrapped(out, def->help, 0);
    osc_strbuf_adds(out, "\nSource, where a column names no other: ");
    osc_strbuf_addf(out, "%s\n\n", def->source);
    if (def->sorted_by > 0)
        osc_strbuf_addf(out,
                        "Sorted by `%s`, the largest first; ties stay in order of first "
                        "appearance.",
                        def->columns[def->sorted_by - 1].name);
    else
        osc_strbuf_adds(out, "Rows stand in order of time, or of first appearance.");
    if (osc_request_is_for("group-by", def)) {
        osc_strbuf_adds(out, " `--group-by`:");
        for (size_t i = 0; def->groupings && def->groupings[i]; i++)
            osc_strbuf_addf(out, " `%s`,", def->groupings[i]);
        osc_strbuf_adds(out, osc_pattern_column(def) >= 0 ? " `name~PATTERN`"
                                                          : " and several with commas");
        osc_strbuf_addc(out, '.');
    }
    for (size_t i = 0; def->options && def->options[i]; i++) {
        const struct osc_table_option *const o = def->options[i];
        const bool is_one_word = o->words && !strchr(o->words, ' ');
        const char *const argument = is_one_word ? o->words : o->argument;

        osc_strbuf_addf(out, "%s `--%s%s%s`", i == 0 ? " Takes" : ",", o->name,
                        argument ? " " : "", argument ? argument : "");
    }
    if (def->options)
        osc_strbuf_addc(out, '.');
    osc_strbuf_adds(out, "\n\n| column | type | meaning | rules | merged |\n"
                         "| --- | --- | --- | --- | --- |\n");
    for (uint32_t c = 0; c < def->n_columns; c++) {
        if (!(def->columns[c].flags & OSC_COLUMN_HIDDEN))
            page_column(out, def, &def->columns[c]);
    }
}

static void page_findings(struct osc_strbuf *out)
{
    static const char *const severities[] = {"info", "warning", "error"};

    osc_strbuf_adds(out, "\n### Codes of table quality\n\n"
                         "| code | severity | what happened | what to change |\n"
                         "| --- | --- | --- | --- |\n");
    for (int i = 0; i < OSC_FINDING_COUNT; i++) {
        const enum osc_finding_code code = (enum osc_finding_code)i;

        osc_strbuf_addf(out, "| `%s` | %s | ", osc_finding_code_text(code),
                        severities[osc_finding_severity(code)]);
        add_cell(out, osc_finding_message(code));
        osc_strbuf_adds(out, " | ");
        add_cell(out, osc_finding_remedy(code));
        osc_strbuf_adds(out, " |\n");
    }
}

int osc_reference_json(void)
{
    struct osc_strbuf out = {0};

    osc_tables_json(&out);
    return show(&out);
}

int osc_reference_page(void)
{
    struct osc_strbuf out = {0};

    osc_strbuf_adds(
        &out,
        "<!-- Written by `opscope table --list --format md`. Do not edit: the text stands in\n"
        "the definitions of the tables and in src/table/rules.md. -->\n"
        "# What the numbers mean\n\n"
        "Every table and column of opscope, with its formula, the rules that it follows and\n"
        "where the rules come from. `opscope table NAME --explain COLUMN` prints the same "
        "text.\n\n"
        "Times are whole nanoseconds, sizes whole bytes, shares numbers from 0 to 1. A column\n"
        "marked ? exists only with the option or the data that it needs. A value that does "
        "not\n"
        "exist is missing: empty in CSV, `null` in JSON; it is never 0 instead. Text rounds\n"
        "shares, but 0 % and 100 % are exact: the least share reads as <0.1 %, the largest\n"
        "below the whole as 99.9 %.\n\n"
        "| table | what it shows |\n| --- | --- |\n");
    for (size_t i = 0; osc_tables[i]; i++)
        osc_strbuf_addf(&out, "| [%s](#table-%s) | %s |\n", osc_tables[i]->name,
                        osc_tables[i]->name, osc_tables[i]->help);
    page_rules(&out);
    osc_strbuf_adds(&out, "\n## Tables\n\nWith several ranks or spans, `rank` and `span` lead "
                          "every table ([Ranks and spans](#ranks-and-spans)).\n");
    for (size_t i = 0; osc_tables[i]; i++)
        page_table(&out, osc_tables[i]);
    page_findings(&out);
    return show(&out);
}
