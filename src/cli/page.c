/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/page.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "render/units.h"

void osc_page_end_line(struct osc_page *p)
{
    while (p->out->len > 0 && p->out->s[p->out->len - 1] == ' ')
        p->out->s[--p->out->len] = '\0';
    osc_strbuf_addc(p->out, '\n');
    p->n_lines++;
}

static void add_coloured(struct osc_page *p, const char *escape, const char *text)
{
    if (p->has_colour)
        osc_strbuf_adds(p->out, escape);
    osc_strbuf_adds(p->out, text);
    if (p->has_colour)
        osc_strbuf_adds(p->out, "\x1b[0m");
}

/* A blank line, and a title that further text may follow. */
void osc_page_section(struct osc_page *p, const char *title)
{
    osc_page_end_line(p);
    add_coloured(p, "\x1b[1m", title);
}

/* Bytes of the first N characters of S. */
size_t osc_page_prefix(struct osc_str s, size_t n)
{
    size_t i = 0;

    while (i < s.len && (n > 0 || ((unsigned char)s.s[i] & 0xc0) == 0x80)) {
        n -= ((unsigned char)s.s[i] & 0xc0) != 0x80;
        i++;
    }
    return i;
}

/* The text of p->cell in WIDTH columns, cut in the middle where it is longer. */
void osc_page_cell(struct osc_page *p, size_t width, bool is_right)
{
    const struct osc_str text = {p->cell.s ? p->cell.s : "", (uint32_t)p->cell.len};
    const size_t len = osc_utf8_width(text);

    if (p->cell.status != OSC_OK)
        p->out->status = p->cell.status;
    if (is_right)
        osc_strbuf_pad(p->out, ' ', len < width ? width - len : 0);
    if (len > width) {
        const size_t head = width / 2, tail = width - 1 - head;
        const size_t from = osc_page_prefix(text, len - tail);

        osc_strbuf_add(p->out, text.s, osc_page_prefix(text, head));
        osc_strbuf_adds(p->out, "\xe2\x80\xa6");
        osc_strbuf_add(p->out, text.s + from, text.len - from);
    } else {
        osc_strbuf_addstr(p->out, text);
    }
    if (!is_right)
        osc_strbuf_pad(p->out, ' ', len < width ? width - len : 0);
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
    osc_strbuf_addf(&p->cell, "%.1f %%", 100 * ratio);
    osc_page_cell(p, OSC_PAGE_SHARE, true);
}

/* 1234567 as 1,234,567. */
void osc_page_add_count(struct osc_strbuf *out, uint64_t n)
{
    char digits[24];
    const int len = snprintf(digits, sizeof digits, "%llu", (unsigned long long)n);

    for (int i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0)
            osc_strbuf_addc(out, ',');
        osc_strbuf_addc(out, digits[i]);
    }
}

/*
 * TEXT in lines that begin with INDENT blanks, the first at COLUMN of one that has begun.
 * At most MAX_LINES; false if something is left.
 */
bool osc_page_wrapped(struct osc_page *p, struct osc_str text, size_t indent, size_t column,
                      unsigned max_lines)
{
    uint32_t at = 0;

    for (unsigned line = 1; at < text.len; line++) {
        const size_t room = OSC_PAGE_WIDTH - column;
        struct osc_str rest = {text.s + at, text.len - at};
        size_t len = osc_page_prefix(rest, room);

        /* At the last blank that fits, or within a word that alone is too long. */
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
        osc_page_end_line(p);
        if (at < text.len && line == max_lines)
            return false;
        if (at < text.len)
            osc_strbuf_pad(p->out, ' ', indent);
        column = indent;
    }
    return true;
}

/* Lines that osc_page_wrapped() would need. */
unsigned osc_page_count_lines(struct osc_str text, size_t indent, size_t column)
{
    struct osc_strbuf scratch = {0};
    struct osc_page dry = {.out = &scratch};

    osc_page_wrapped(&dry, text, indent, column, UINT32_MAX);
    osc_strbuf_fini(&scratch);
    return dry.n_lines;
}
