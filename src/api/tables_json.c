/* SPDX-License-Identifier: Apache-2.0 */
#include "api/tables_json.h"

#include "analysis/table_registry.h"
#include "ask/request.h"
#include "codec/json.h"
#include "render/renderers.h"
#include "table/row_groups.h"
#include "table/rules.h"
#include "table/sheet.h"

#define SCHEMA 1

static void add_text(struct osc_strbuf *out, const char *text)
{
    if (text)
        osc_json_quote(out, osc_str_c(text));
    else
        osc_strbuf_adds(out, "null");
}

static void add_member(struct osc_strbuf *out, const char *name, const char *value)
{
    osc_strbuf_addf(out, ", \"%s\": ", name);
    add_text(out, value);
}

static void add_bool(struct osc_strbuf *out, const char *name, bool value)
{
    osc_strbuf_addf(out, ", \"%s\": %s", name, value ? "true" : "false");
}

static void add_rules(struct osc_strbuf *out, uint64_t rules)
{
    const char *between = "";

    osc_strbuf_adds(out, ", \"rules\": [");
    for (size_t i = 0; osc_rules[i].rule; i++) {
        if (!(rules & osc_rules[i].rule))
            continue;
        osc_strbuf_addf(out, "%s%zu", between, i);
        between = ", ";
    }
    osc_strbuf_addc(out, ']');
}

static void add_column(struct osc_strbuf *out, const struct osc_table_def *def,
                       const struct osc_column *c)
{
    static const char *const types[] = {"string", "integer", "number", "boolean"};
    static const char *const merges[] = {
        [OSC_MERGE_KEY] = "key",      [OSC_MERGE_FIRST] = "first",
        [OSC_MERGE_SUM] = "sum",      [OSC_MERGE_MIN] = "min",
        [OSC_MERGE_MAX] = "max",      [OSC_MERGE_OR] = "or",
        [OSC_MERGE_JOIN] = "join",    [OSC_MERGE_BUCKETS] = "buckets",
        [OSC_MERGE_FINISH] = "finish"};
    struct osc_strbuf help = {0};

    osc_sheet_add_help(&help, def, c);
    osc_strbuf_adds(out, "\n   {\"name\": ");
    add_text(out, c->name);
    add_member(out, "type", types[c->type]);
    add_member(out, "unit", c->unit);
    osc_strbuf_adds(out, ", \"help\": ");
    osc_json_quote(out, (struct osc_str){help.s, (uint32_t)help.len});
    add_bool(out, "optional", (c->flags & OSC_COLUMN_OPTIONAL) != 0);
    add_bool(out, "deep", (c->flags & OSC_COLUMN_DEEP) != 0);
    add_bool(out, "symbol", (c->flags & OSC_COLUMN_SYMBOL) != 0);
    add_bool(out, "long", (c->flags & OSC_COLUMN_LONG) != 0);
    add_bool(out, "below", (c->flags & OSC_COLUMN_BELOW) != 0);
    add_bool(out, "minor", (c->flags & OSC_COLUMN_MINOR) != 0);
    add_member(out, "merge", merges[c->merge]);
    add_bool(out, "sums", c->merge == OSC_MERGE_SUM);
    add_bool(out, "moment", (c->flags & OSC_COLUMN_MOMENT) != 0);
    add_member(out, "group_by", c->grouping);
    add_rules(out, c->rules ? c->rules : def->rules);
    osc_strbuf_addc(out, '}');
    if (help.status != OSC_OK)
        out->status = help.status;
    osc_strbuf_fini(&help);
}

/* Append the options that DEF takes and some other table does not. */
static void add_own_options(struct osc_strbuf *out, const struct osc_table_def *def)
{
    const char *name, *between = "";
    unsigned part;
    bool is_switch;

    osc_strbuf_adds(out, ", \"options\": [");
    for (size_t i = 0; (name = osc_request_field(i, &part, &is_switch)); i++) {
        if (osc_request_is_all(name) || !osc_request_is_for(name, def))
            continue;
        osc_strbuf_addf(out, "%s\"%s\"", between, name);
        between = ", ";
    }
    osc_strbuf_addc(out, ']');
}

static void add_table(struct osc_strbuf *out, const struct osc_table_def *def)
{
    const char *between = "";

    osc_strbuf_adds(out, "\n {\"name\": ");
    add_text(out, def->name);
    add_member(out, "help", def->help);
    add_member(out, "source", def->source);
    add_member(out, "sorted_by",
               def->sorted_by > 0 ? def->columns[def->sorted_by - 1].name : NULL);
    osc_strbuf_adds(out, ", \"group_by\": [");
    for (size_t i = 0; def->groupings && def->groupings[i]; i++)
        osc_strbuf_addf(out, "%s\"%s\"", i > 0 ? ", " : "", def->groupings[i]);
    osc_strbuf_addc(out, ']');
    add_own_options(out, def);
    add_bool(out, "patterns", osc_pattern_column(def) >= 0);
    add_bool(out, "compares", def->comparison != NULL);
    add_bool(out, "joins_ranks", osc_table_joins_ranks(def));
    add_bool(out, "streams", def->stream != NULL);
    osc_strbuf_adds(out, ",\n  \"columns\": [");
    for (uint32_t i = 0; i < def->n_columns; i++) {
        if (def->columns[i].flags & OSC_COLUMN_HIDDEN)
            continue;
        osc_strbuf_adds(out, between);
        add_column(out, def, &def->columns[i]);
        between = ",";
    }
    osc_strbuf_adds(out, "]}");
}

/* Append the columns rank and span, which DEF has as every table, though it may have its own.
 */
static void add_leading(struct osc_strbuf *out, const struct osc_table_def *def)
{
    static const char *const names[] = {"rank", "span"};
    int32_t index;

    osc_strbuf_adds(out, "],\n\"leading\": [");
    for (size_t i = 0; i < 2; i++) {
        osc_strbuf_adds(out, i > 0 ? "," : "");
        add_column(out, def, osc_sheet_find(def, names[i], &index));
    }
}

/* Append what a table says of its option OWN, or nothing for NULL. */
static void add_own(struct osc_strbuf *out, const struct osc_table_option *own)
{
    static const char *const kinds[] = {[OSC_OPTION_SWITCH] = "switch",
                                        [OSC_OPTION_TEXT] = "text",
                                        [OSC_OPTION_WORD] = "word",
                                        [OSC_OPTION_TIME] = "time",
                                        [OSC_OPTION_WHOLE] = "whole"};

    if (!own)
        return;
    add_member(out, "kind", kinds[own->kind]);
    add_member(out, "argument", own->argument);
    add_member(out, "words", own->words);
    add_member(out, "help", own->help);
}

static void add_options(struct osc_strbuf *out)
{
    const char *name, *between = "";
    unsigned part;
    bool is_switch;

    osc_strbuf_adds(out, "],\n\"options\": [");
    for (size_t i = 0; (name = osc_request_field(i, &part, &is_switch)); i++) {
        if (part == OSC_PART_HOW)
            continue;
        osc_strbuf_addf(out, "%s\n {\"name\": \"%s\", \"part\": \"%s\"", between, name,
                        part == OSC_PART_VIEW       ? "view"
                        : part == OSC_PART_QUESTION ? "question"
                                                    : "text");
        add_bool(out, "switch", is_switch);
        add_own(out, osc_tables_option(name));
        osc_strbuf_addc(out, '}');
        between = ",";
    }
}

void osc_tables_json(struct osc_strbuf *out)
{
    osc_strbuf_adds(out, "{\"opscope\": \"" OSC_VERSION "\"");
    osc_strbuf_addf(out, ", \"schema\": %d,\n\"tables\": [", SCHEMA);
    for (size_t i = 0; osc_tables[i]; i++) {
        osc_strbuf_adds(out, i > 0 ? "," : "");
        add_table(out, osc_tables[i]);
    }
    add_leading(out, osc_table_find("overview"));
    add_options(out);
    osc_strbuf_adds(out, "],\n\"forms\": [\"cols\"");
    for (size_t i = 0; osc_renderers[i]; i++)
        osc_strbuf_addf(out, ", \"%s\"", osc_renderers[i]->name);
    osc_strbuf_adds(out, "],\n\"rules\": [");
    for (size_t i = 0; osc_rules[i].rule; i++) {
        osc_strbuf_adds(out, i > 0 ? ",\n {\"title\": " : "\n {\"title\": ");
        add_text(out, osc_rules[i].title);
        add_member(out, "text", osc_rules[i].text);
        add_member(out, "source", osc_rules[i].source);
        osc_strbuf_addc(out, '}');
    }
    osc_strbuf_adds(out, "]}\n");
}
