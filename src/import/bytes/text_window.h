/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_window.h - a window that slides over text of any length.
 *
 * A reader looks at contiguous bytes [p, end) and asks for more at their end. Bytes that it
 * still needs are copied in front of the next block, so that no token is ever split, and the
 * whole text is never in memory.
 *
 *   blocks   a source of bytes: a file, a pipe, an inflating thread, memory
 *   text     the window over them
 *
 *   - After `end` there are always OSC_TEXT_PADDING readable zero bytes, so that kernels
 *     may load past it.
 *   - Offsets count bytes of the text after inflating.
 *
 * Threading: not locked; one window per thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#define OSC_TEXT_HEADROOM 65536u
#define OSC_TEXT_PADDING  128u

/* Most bytes of a token; users are told this limit. */
#define OSC_TOKEN_MAX ((size_t)16 << 20)

/* Most bytes that a window keeps: a token, and what is looked at after it. */
#define OSC_TEXT_KEPT_MAX (OSC_TOKEN_MAX + OSC_TEXT_HEADROOM)

/* How far to look past blanks; a key still fits after them. */
#define OSC_TEXT_LOOK_MAX (OSC_TEXT_KEPT_MAX - 1024)

/* A source of bytes. */
struct osc_blocks {
    /*
     * Return the next block: *LEN bytes at *DATA, 0 at the end. OSC_TEXT_HEADROOM bytes before
     * it and OSC_TEXT_PADDING after it are writable. A block stays valid until the second call
     * after the one that returned it.
     */
    osc_status (*next)(struct osc_blocks *b, char **data, size_t *len, struct osc_err *err);
};

struct osc_text {
    struct osc_blocks *blocks; /* borrowed */
    char *p, *end;
    uint64_t end_offset; /* of `end` in the text */
    uint64_t n_moves;    /* number of times bytes were moved */
    bool at_end;         /* no more blocks */
    osc_status status;   /* of the last block: OSC_OK, or the error */
    struct osc_err err;  /* its sentence */
    char *big;           /* owned: memory for a token longer than the headroom */
    size_t big_cap;
};

/* Start at OFFSET of the text, from which on BLOCKS returns bytes. */
void osc_text_init(struct osc_text *t, struct osc_blocks *blocks, uint64_t offset);
void osc_text_fini(struct osc_text *t);

/*
 * Fetch more bytes after t->end. Bytes from KEEP on, which is at or before t->p, are kept but
 * may move; t->p moves with them. Returns the new address of KEEP, or NULL at the end of the
 * text, after an error, or if more than OSC_TEXT_KEPT_MAX bytes would have to be kept: then
 * nothing has moved.
 */
char *osc_text_more(struct osc_text *t, char *keep);

/* Offset of P, which is in the window. */
static inline uint64_t osc_text_offset(const struct osc_text *t, const char *p)
{
    return t->end_offset - (uint64_t)(t->end - p);
}

static inline bool osc_text_is_blank(int ch)
{
    return ch == ' ' || ch == '\n' || ch == '\t' || ch == '\r';
}

/*
 * The byte AT bytes after t->p, or -1 at the end of the text. More text is fetched if
 * necessary, which may move t->p.
 */
static inline int osc_text_look(struct osc_text *t, size_t at)
{
    while (at >= (size_t)(t->end - t->p))
        if (!osc_text_more(t, t->p))
            return -1;
    return (unsigned char)t->p[at];
}

/*
 * The first nonblank byte at or after *AT, which is set to its place. Also -1 if that is
 * beyond OSC_TEXT_LOOK_MAX: the limit depends on the text, not on its blocks.
 */
static inline int osc_text_look_past_blank(struct osc_text *t, size_t *at)
{
    int ch;

    do {
        ch = *at <= OSC_TEXT_LOOK_MAX ? osc_text_look(t, *at) : -1;
    } while (osc_text_is_blank(ch) && ++*at);
    return ch;
}
