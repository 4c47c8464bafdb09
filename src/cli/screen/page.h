/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page.h - text in columns, with a count of lines, for the one screen.
 *
 * A cell is written to page.cell and then placed in its column.
 *
 * Threading: one thread.
 */
#pragma once

#include <stdbool.h>

#include "base/strbuf.h"

#define OSC_PAGE_WIDTH       80  /* where there is no terminal */
#define OSC_PAGE_WIDTH_MOST  120 /* on a wide one: longer lines are hard to follow */
#define OSC_PAGE_WIDTH_LEAST 50  /* lines wrap on a narrower terminal */
#define OSC_PAGE_LINES       40
#define OSC_PAGE_TIME        12 /* width of a time */
#define OSC_PAGE_SHARE       8

struct osc_screen;

struct osc_page {
    const struct osc_screen *s; /* borrowed; the data to show */
    struct osc_strbuf *out;     /* borrowed */
    struct osc_strbuf cell;     /* owned; scratch */
    unsigned n_lines;           /* lines ended so far, as a terminal shows them */
    size_t width;               /* columns of a line */
    bool has_colour;
};

/* End the line; remove trailing blanks. */
void osc_page_end_line(struct osc_page *p);

/* Write a title, which text may follow; a section begins with a blank line. */
void osc_page_title(struct osc_page *p, const char *title);
void osc_page_section(struct osc_page *p, const char *title);

/* Write p->cell, which is emptied, WIDTH columns wide; it is cut in the middle if it is
 * longer. */
void osc_page_cell(struct osc_page *p, size_t width, bool is_right);
void osc_page_text(struct osc_page *p, const char *text, size_t width, bool is_right);
void osc_page_time(struct osc_page *p, double ns);
void osc_page_share(struct osc_page *p, double ratio);

/*
 * Write TEXT in lines indented by INDENT, the first one from COLUMN of the current line on,
 * and end the last one. At most MAX_LINES; "..." replaces the rest.
 */
void osc_page_wrapped(struct osc_page *p, struct osc_str text, size_t indent, size_t column,
                      unsigned max_lines);

/* Columns of a terminal that the valid text S takes (osc_utf8_columns). */
size_t osc_page_columns(struct osc_str s);

/* Bytes in the longest prefix of S that takes at most N columns. */
size_t osc_page_prefix(struct osc_str s, size_t n);
