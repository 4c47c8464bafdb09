/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render.h - any table as text, CSV, JSON, JSON Lines, Markdown or Arrow.
 *
 * A renderer is one file that ends in one const struct, and one line in renderers.c. It
 * receives a sheet, then runs of rows, then the end. It writes to r->out and never holds back
 * more than a few thousand rows, so that a table of any length needs the same memory.
 *
 *   - For programs (is_machine) cells are exact and never cut. For people, times and sizes
 *     have units, C++ names are folded, and if a terminal is too narrow names are cut
 *     (labels.h) and the least important columns left out; see render_text.c and fit.h.
 *   - Invalid UTF-8 becomes U+FFFD. For people, control characters become \xNN, so that no
 *     trace can control a terminal.
 *
 * Threading: a rendering belongs to one thread.
 */
#pragma once

#include "table/sheet.h"

struct osc_render;

struct osc_renderer {
    const char *name; /* for --format */
    const char *help;
    bool is_machine;
    bool is_binary;        /* no text */
    bool lacks_notes;      /* nothing in it says why a table is empty or not sorted */
    const char *one_table; /* its title, if one answer holds one table; else NULL */
    osc_status (*begin)(struct osc_render *r);
    osc_status (*rows)(struct osc_render *r, const struct osc_rows *rows);
    osc_status (*end)(struct osc_render *r); /* sheet->n_more is known now */
    void (*fini)(struct osc_render *r);      /* free r->state; may be NULL */
};

struct osc_render {
    const struct osc_renderer *renderer;
    const struct osc_sheet *sheet; /* borrowed */
    unsigned width;                /* of the terminal, in columns; 0: not a terminal, cut
                                    * nothing but symbols */
    bool has_colour;
    bool has_full_names;                       /* do not fold symbols */
    void (*note)(void *ctx, const char *line); /* receives what the output does not say, without
                                                * a newline; may be NULL */

    /* Receives the output. */
    osc_status (*write)(void *ctx, const char *s, size_t len);
    void *ctx;

    struct osc_strbuf out; /* owned; output not yet passed to write() */
    uint64_t n_rows;       /* so far */
    void *state;           /* private to the renderer */
};

/*
 * Call begin, then rows any number of times, then end. The first failure is returned and
 * should end the rendering. Call osc_render_fini() in any case.
 */
OSC_MUST_USE osc_status osc_render_begin(struct osc_render *r);
OSC_MUST_USE osc_status osc_render_rows(struct osc_render *r, const struct osc_rows *rows);
OSC_MUST_USE osc_status osc_render_end(struct osc_render *r);
void osc_render_fini(struct osc_render *r);

/* Pass r->out to write() if it is long (or IS_LAST). For renderers within rows(). */
OSC_MUST_USE osc_status osc_render_flush(struct osc_render *r, bool is_last);

/* Append CELL, which is not missing: a number, a boolean or a string, exactly. */
void osc_render_exact(struct osc_strbuf *out, const struct osc_cell *cell);

/* Append S with each run of white space as one blank. */
void osc_render_shrink(struct osc_strbuf *out, struct osc_str s);

/* The renderers, ended by NULL, and the one called NAME, or NULL. */
extern const struct osc_renderer *const osc_renderers[];
const struct osc_renderer *osc_renderer_find(const char *name);
