/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page.h - text in columns, counted in lines: what the one screen is set with.
 *
 * A cell is composed in page.cell and then put into its column.
 *
 * Threading: one thread.
 */
#ifndef OSC_CLI_PAGE_H
#define OSC_CLI_PAGE_H

#include <stdbool.h>

#include "base/strbuf.h"

#define OSC_PAGE_WIDTH 80
#define OSC_PAGE_LINES 40
#define OSC_PAGE_TIME  12 /* columns of a time */
#define OSC_PAGE_SHARE 8

struct osc_screen;

struct osc_page {
    const struct osc_screen *s; /* borrowed; what is shown */
    struct osc_strbuf *out;     /* borrowed */
    struct osc_strbuf cell;     /* owned; scratch */
    unsigned n_lines;           /* ended so far */
    bool has_colour;
};

/* End the line, without the blanks at its end. */
void osc_page_end_line(struct osc_page *p);

/* A blank line, and a title that further text may follow. */
void osc_page_section(struct osc_page *p, const char *title);

/* Put p->cell, then empty, in WIDTH columns, cut in the middle where it is longer. */
void osc_page_cell(struct osc_page *p, size_t width, bool is_right);
void osc_page_text(struct osc_page *p, const char *text, size_t width, bool is_right);
void osc_page_time(struct osc_page *p, double ns);
void osc_page_share(struct osc_page *p, double ratio);

/*
 * Put TEXT in lines that begin with INDENT blanks, the first at COLUMN of one that has
 * begun, and end the last one. At most MAX_LINES; false if something is left.
 */
bool osc_page_wrapped(struct osc_page *p, struct osc_str text, size_t indent, size_t column,
                      unsigned max_lines);

/* Lines that osc_page_wrapped() would need. */
unsigned osc_page_count_lines(struct osc_str text, size_t indent, size_t column);

/* Bytes of the first N characters of S. */
size_t osc_page_prefix(struct osc_str s, size_t n);

/* 1234567 as 1,234,567. */
void osc_page_add_count(struct osc_strbuf *out, uint64_t n);

#endif
