/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/screen/page.h"

#include <stdio.h>
#include <string.h>

#include "render/units.h"

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

/* The code point that the LEN bytes at S encode. */
static uint32_t code_point(const char *s, size_t len)
{
    static const unsigned char masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t c = (unsigned char)s[0] & masks[len];

    for (size_t i = 1; i < len; i++)
        c = c << 6 | ((unsigned char)s[i] & 0x3f);
    return c;
}

static bool is_wide(uint32_t c)
{
    static const uint32_t ranges[][2] = {
        {0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0xa4cf},   {0xa960, 0xa97f},
        {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},
        {0xffe0, 0xffe6},   {0x16fe0, 0x18aff}, {0x1b000, 0x1b2ff}, {0x1f300, 0x1f64f},
        {0x1f680, 0x1f6ff}, {0x1f900, 0x1faff}, {0x20000, 0x3fffd}};

    for (size_t i = 0; i < sizeof ranges / sizeof *ranges && c >= ranges[i][0]; i++) {
        if (c <= ranges[i][1])
            return true;
    }
    return false;
}

/* The number of bytes at the start of S that need at most N columns; *COLUMNS: how many they
 * need. */
static size_t measure(struct osc_str s, size_t n, size_t *columns)
{
    size_t i = 0;

    *columns = 0;
    while (i < s.len) {
        size_t len = 1;

        while (len < 4 && i + len < s.len && ((unsigned char)s.s[i + len] & 0xc0) == 0x80)
            len++;
        const size_t width = len > 1 && is_wide(code_point(s.s + i, len)) ? 2 : 1;
        if (*columns + width > n)
            break;
        *columns += width;
        i += len;
    }
    return i;
}

size_t osc_page_columns(struct osc_str s)
{
    size_t columns;

    measure(s, SIZE_MAX, &columns);
    return columns;
}

size_t osc_page_prefix(struct osc_str s, size_t n)
{
    size_t columns;

    return measure(s, n, &columns);
}

/* The number of bytes to skip at the start of S so that the rest needs at most N columns. */
static size_t skip_to_tail(struct osc_str s, size_t n)
{
    const size_t columns = osc_page_columns(s);
    size_t from = columns > n ? osc_page_prefix(s, columns - n) : 0;

    /* A wide character across the edge is left out, too. */
    while (from < s.len &&
           osc_page_columns((struct osc_str){s.s + from, s.len - (uint32_t)from}) > n)
        from += osc_page_prefix((struct osc_str){s.s + from, s.len - (uint32_t)from}, 2);
    return from;
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
        const size_t head = width / 2, from = skip_to_tail(text, width - 1 - head);

        osc_strbuf_add(p->out, text.s, osc_page_prefix(text, head));
        osc_strbuf_adds(p->out, "\xe2\x80\xa6");
        osc_strbuf_add(p->out, text.s + from, text.len - from);
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
    osc_strbuf_addf(&p->cell, "%.1f %%", 100 * ratio);
    osc_page_cell(p, OSC_PAGE_SHARE, true);
}

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
