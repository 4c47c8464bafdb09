/* SPDX-License-Identifier: Apache-2.0 */
#include "ask/diff/gate_report.h"

#include "analysis/diff/change.h"
#include "ask/diff/sentences.h"
#include "base/utf8.h"

#define ROWS_MAX 100 /* in a report; all that break a gate alone are rarely more */

static struct osc_change change_at(const struct osc_gate_findings *f, enum osc_gate_table table,
                                   uint64_t row)
{
    const struct osc_result *const r = f->tables[table];
    const struct osc_change_columns at = table == OSC_GATE_STEPS
                                             ? *osc_diff_steps_columns()
                                             : osc_change_columns(r->def, osc_change_time(r));

    return osc_change_at(r, row, &at);
}

static const char *kind_of(enum osc_gate_table table)
{
    return table == OSC_GATE_STEPS       ? "step."
           : table == OSC_GATE_OPERATORS ? "operator "
                                         : "kernel ";
}

/* Appends a text without risk of what it contains. */
typedef void add_safely(struct osc_strbuf *out, struct osc_str s);

struct telling {
    const struct osc_gate_findings *f;
    struct osc_strbuf *out;
    add_safely *add;
};

/* Append a line about one row. */
static void tell(void *ctx, enum osc_gate_table table, uint64_t row, struct osc_str text)
{
    const struct telling *const t = ctx;
    const struct osc_change c = change_at(t->f, table, row);

    osc_strbuf_adds(t->out, "  ");
    osc_strbuf_adds(t->out, kind_of(table));
    t->add(t->out, c.name);
    osc_strbuf_adds(t->out, ": ");
    osc_diff_say_change(t->out, &c);
    osc_strbuf_adds(t->out, " [");
    t->add(t->out, text);
    osc_strbuf_adds(t->out, "]\n");
}

static void add_lines(struct osc_strbuf *out, const struct osc_gate_findings *f,
                      add_safely *add)
{
    struct telling t = {f, out, add};

    if (f->gate->is_broken)
        osc_gate_each(f->gate, f->tables, ROWS_MAX, tell, &t);
}

osc_status osc_gate_add_text(struct osc_strbuf *out, const struct osc_gate_findings *f)
{
    osc_strbuf_adds(out, f->gate->is_broken ? "the gate broke: " : "the gate holds: ");
    osc_utf8_append_terminal(out, osc_str_c(f->text));
    osc_strbuf_addc(out, '\n');
    add_lines(out, f, osc_utf8_append_terminal);
    return out->status;
}

/* --- JUnit ------------------------------------------------------------------------- */

/* Append S to text or an attribute of XML 1.0. */
static void add_xml(struct osc_strbuf *out, struct osc_str s)
{
    struct osc_strbuf clean = {0};

    osc_utf8_append_clean(&clean, s);
    for (size_t i = 0; i < clean.len; i++) {
        const unsigned char c = (unsigned char)clean.s[i];
        /* U+FFFE and U+FFFF are no characters of XML. */
        const bool is_none = c == 0xef && i + 2 < clean.len &&
                             (unsigned char)clean.s[i + 1] == 0xbf &&
                             (unsigned char)clean.s[i + 2] >= 0xbe;

        if (is_none)
            i += 2;
        if (c == '<')
            osc_strbuf_adds(out, "&lt;");
        else if (c == '>')
            osc_strbuf_adds(out, "&gt;");
        else if (c == '&')
            osc_strbuf_adds(out, "&amp;");
        else if (c == '"')
            osc_strbuf_adds(out, "&quot;");
        else if (c == '\n')
            osc_strbuf_adds(out, "&#10;");
        else if (c < 0x20 || c == 0x7f || is_none)
            osc_strbuf_adds(out, "\xef\xbf\xbd");
        else
            osc_strbuf_addc(out, (char)c);
    }
    if (clean.status != OSC_OK)
        out->status = clean.status;
    osc_strbuf_fini(&clean);
}

static void add_xml_c(struct osc_strbuf *out, const char *s)
{
    add_xml(out, osc_str_c(s));
}

osc_status osc_gate_add_junit(struct osc_strbuf *out, const struct osc_gate_findings *f)
{
    const unsigned n_failures = f->gate->is_broken ? 1 : 0;

    osc_strbuf_addf(
        out,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<testsuites tests=\"1\" failures=\"%u\" errors=\"0\" time=\"0\">\n"
        "  <testsuite name=\"opscope diff\" tests=\"1\" failures=\"%u\" errors=\"0\" "
        "skipped=\"0\" time=\"0\">\n" /* some readers insist on a time */
        "    <properties>\n      <property name=\"base\" value=\"",
        n_failures, n_failures);
    add_xml_c(out, f->base);
    osc_strbuf_adds(out, "\"/>\n      <property name=\"new\" value=\"");
    add_xml_c(out, f->new_run);
    osc_strbuf_adds(out, "\"/>\n    </properties>\n"
                         "    <testcase classname=\"opscope.diff\" name=\"");
    add_xml_c(out, f->text);
    osc_strbuf_adds(out, "\" time=\"0\">\n");
    if (f->gate->is_broken) {
        osc_strbuf_adds(out, "      <failure type=\"growth\" message=\"the gate broke\">");
        add_lines(out, f, add_xml);
        osc_strbuf_adds(out, "</failure>\n");
    }
    osc_strbuf_adds(out, "      <system-out>");
    for (const char *line = f->sentences; *line;) {
        const char *const end = strchrnul(line, '\n');

        add_xml(out, (struct osc_str){line, (uint32_t)(end - line)});
        osc_strbuf_addc(out, '\n');
        line = *end ? end + 1 : end;
    }
    osc_strbuf_adds(out, "</system-out>\n    </testcase>\n  </testsuite>\n</testsuites>\n");
    return out->status;
}

/* --- Markdown ---------------------------------------------------------------------- */

/* Append S to a line of Markdown: it cannot become markup. */
static void add_markdown(struct osc_strbuf *out, struct osc_str s)
{
    struct osc_strbuf clean = {0};

    osc_utf8_append_terminal(&clean, s);
    for (size_t i = 0; i < clean.len; i++) {
        if (clean.s[i] == '<')
            osc_strbuf_adds(out, "&lt;");
        else if (clean.s[i] == '&')
            osc_strbuf_adds(out, "&amp;");
        else if (clean.s[i] == '@')
            osc_strbuf_adds(out, "&#64;"); /* no one is to be notified */
        else if (strchr("\\`*_{}[]()#|!>~", clean.s[i]))
            osc_strbuf_addf(out, "\\%c", clean.s[i]);
        else
            osc_strbuf_addc(out, clean.s[i]);
    }
    if (clean.status != OSC_OK)
        out->status = clean.status;
    osc_strbuf_fini(&clean);
}

/* Append a row of the table of what broke the gate. */
static void tell_markdown(void *ctx, enum osc_gate_table table, uint64_t row,
                          struct osc_str text)
{
    const struct telling *const t = ctx;
    const struct osc_change c = change_at(t->f, table, row);

    osc_strbuf_adds(t->out, "| ");
    osc_strbuf_adds(t->out, kind_of(table));
    add_markdown(t->out, c.name);
    osc_strbuf_adds(t->out, " | ");
    osc_diff_say_change(t->out, &c);
    osc_strbuf_adds(t->out, " | ");
    add_markdown(t->out, text);
    osc_strbuf_adds(t->out, " |\n");
}

void osc_report_add_list(struct osc_strbuf *out, const char *lines)
{
    while (*lines) {
        const char *const end = strchrnul(lines, '\n');

        osc_strbuf_adds(out, "- ");
        add_markdown(out, (struct osc_str){lines, (uint32_t)(end - lines)});
        osc_strbuf_addc(out, '\n');
        lines = *end ? end + 1 : end;
    }
}

osc_status osc_gate_add_markdown(struct osc_strbuf *out, const struct osc_gate_findings *f)
{
    struct telling t = {f, out, add_markdown};

    osc_strbuf_adds(out, f->gate->is_broken ? "## opscope diff: the gate broke\n\n"
                                            : "## opscope diff: the gate holds\n\n");
    add_markdown(out, osc_str_c(f->text));
    osc_strbuf_adds(out, "\n\n");
    if (f->gate->is_broken) {
        osc_strbuf_adds(out,
                        "| what grew | by how much | which broke |\n| --- | --- | --- |\n");
        osc_gate_each(f->gate, f->tables, ROWS_MAX, tell_markdown, &t);
        osc_strbuf_addc(out, '\n');
    }
    osc_report_add_list(out, f->sentences);
    osc_strbuf_addc(out, '\n');
    osc_strbuf_adds(out, f->tables_md);
    return out->status;
}
