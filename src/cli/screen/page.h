/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page.h - text in columns, counted in lines: what the one screen is set with.
 *
 * A cell is composed in page.cell and then put into its column.
 *
 * Threading: one thread.
 */
#pragma once

#include <stdbool.h>

#include "base/strbuf.h"

#define OSC_PAGE_WIDTH       80 /* at most */
#define OSC_PAGE_WIDTH_LEAST 50 /* a terminal with less wraps */
#define OSC_PAGE_LINES       40
#define OSC_PAGE_TIME        12 /* columns of a time */
#define OSC_PAGE_SHARE       8

struct osc_screen;

struct osc_page {
    const struct osc_screen *s; /* borrowed; what is shown */
    struct osc_strbuf *out;     /* borrowed */
    struct osc_strbuf cell;     /* owned; scratch */
    unsigned n_lines;           /* ended so far, as a terminal shows them */
    size_t width;               /* columns of a line */
    bool has_colour;
};

/* End the line, without the blanks at its end. */
void osc_page_end_line(struct osc_page *p);

/* A title that further text may follow; a section begins with a blank line before it. */
void osc_page_title(struct osc_page *p, const char *title);
void osc_page_section(struct osc_page *p, const char *title);

/* Put p->cell, then empty, in WIDTH columns, cut in the middle where it is longer. */
void osc_page_cell(struct osc_page *p, size_t width, bool is_right);
void osc_page_text(struct osc_page *p, const char *text, size_t width, bool is_right);
void osc_page_time(struct osc_page *p, double ns);
void osc_page_share(struct osc_page *p, double ratio);

/*
 * Put TEXT in lines that begin with INDENT blanks, the first at COLUMN of one that has
 * begun, and end the last one. At most MAX_LINES; "..." stands for what is left.
 */
void osc_page_wrapped(struct osc_page *p, struct osc_str text, size_t indent, size_t column,
                      unsigned max_lines);

/*
 * Columns that the valid text S takes on a terminal: two for each of the wide characters
 * of East Asia and for pictures (Unicode 15, UAX #11), else one for a code point.
 */
size_t osc_page_columns(struct osc_str s);

/* Bytes of the beginning of S that takes at most N columns. */
size_t osc_page_prefix(struct osc_str s, size_t n);

/* 1234567 as 1,234,567. */
void osc_page_add_count(struct osc_strbuf *out, uint64_t n);
