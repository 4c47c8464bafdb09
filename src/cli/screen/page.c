/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/screen/page.h"

#include <stdio.h>
#include <string.h>

#include "base/percent.h"
#include "base/utf8.h"
#include "prose/units.h"

void osc_page_end_line(struct osc_page *p)
{
    while (p->out->len > 0 && p->out->s[p->out->len - 1] == ' ')
        p->out->s[--p->out->len] = '\0';
    osc_strbuf_addc(p->out, '\n');
    p->n_lines++;
}

void osc_page_title(struct osc_page *p, const char *title)
{
    osc_strbuf_addf(p->out, p->has_colour ? "\x1b[1m%s\x1b[0m" : "%s", title);
}

void osc_page_section(struct osc_page *p, const char *title)
{
    osc_page_end_line(p);
    osc_page_title(p, title);
}

size_t osc_page_columns(struct osc_str s)
{
    return osc_utf8_columns(s);
}

size_t osc_page_prefix(struct osc_str s, size_t n)
{
    return osc_utf8_head(s, n);
}

void osc_page_cell(struct osc_page *p, size_t width, bool is_right)
{
    const struct osc_str text = {p->cell.s ? p->cell.s : "", (uint32_t)p->cell.len};
    const size_t start = p->out->len, columns = osc_page_columns(text);

    if (p->cell.status != OSC_OK)
        p->out->status = p->cell.status;
    if (is_right)
        osc_strbuf_pad(p->out, ' ', columns < width ? width - columns : 0);
    if (columns > width) {
        const size_t head = width / 2, tail = osc_utf8_tail(text, width - 1 - head);

        osc_strbuf_add(p->out, text.s, osc_page_prefix(text, head));
        osc_strbuf_adds(p->out, "\xe2\x80\xa6");
        osc_strbuf_add(p->out, text.s + (text.len - tail), tail);
    } else {
        osc_strbuf_addstr(p->out, text);
    }
    if (!is_right && p->out->status == OSC_OK) {
        const size_t taken = osc_page_columns(
            (struct osc_str){p->out->s + start, (uint32_t)(p->out->len - start)});

        osc_strbuf_pad(p->out, ' ', taken < width ? width - taken : 0);
    }
    osc_strbuf_clear(&p->cell);
}

void osc_page_text(struct osc_page *p, const char *text, size_t width, bool is_right)
{
    osc_strbuf_adds(&p->cell, text);
    osc_page_cell(p, width, is_right);
}

void osc_page_time(struct osc_page *p, double ns)
{
    osc_units_time(&p->cell, ns);
    osc_page_cell(p, OSC_PAGE_TIME, true);
}

void osc_page_share(struct osc_page *p, double ratio)
{
    osc_percent_add(&p->cell, ratio, 1);
    osc_page_cell(p, OSC_PAGE_SHARE, true);
}

void osc_page_wrapped(struct osc_page *p, struct osc_str text, size_t indent, size_t column,
                      unsigned max_lines)
{
    uint32_t at = 0;

    for (unsigned line = 1; at < text.len; line++) {
        const size_t room = p->width - column;
        struct osc_str rest = {text.s + at, text.len - at};
        size_t len = osc_page_prefix(rest, room);

        /* Break at the last space that fits, or within a word that is too long by itself. */
        if (len < rest.len) {
            size_t end = len;

            while (end > 0 && rest.s[end] != ' ')
                end--;
            len = end > 0 ? end : len;
        }
        osc_strbuf_add(p->out, rest.s, len);
        at += (uint32_t)len;
        while (at < text.len && text.s[at] == ' ')
            at++;
        if (at < text.len && line == max_lines) {
            osc_strbuf_adds(p->out, len < room ? "\xe2\x80\xa6" : "");
            at = text.len;
        }
        osc_page_end_line(p);
        if (at < text.len)
            osc_strbuf_pad(p->out, ' ', indent);
        column = indent;
    }
}
