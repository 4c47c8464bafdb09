/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_window.h - a window that slides over text of any length.
 *
 * A reader looks at contiguous bytes [p, end) and asks for more when they run
 * out. What it still needs is carried over in front of the next block, so that no
 * token is ever cut, and the whole text is never in memory.
 *
 *   blocks   where bytes come from: a file, a pipe, an inflating thread, memory
 *   text     the window over them
 *
 *   - Behind `end` there are always OSC_TEXT_PADDING readable bytes, all zero, so
 *     that kernels may load past it.
 *   - Offsets count bytes of the text, after inflating.
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

/* One token is never longer than this: users are told the limit. */
#define OSC_TOKEN_MAX ((size_t)16 << 20)

/* What a window keeps at most: a token, and what is looked at behind it. */
#define OSC_TEXT_KEPT_MAX (OSC_TOKEN_MAX + OSC_TEXT_HEADROOM)

/* How far blanks are looked past; a key still fits behind them. */
#define OSC_TEXT_LOOK_MAX (OSC_TEXT_KEPT_MAX - 1024)

/* Where bytes come from. */
struct osc_blocks {
    /*
     * The next block: *LEN bytes at *DATA, 0 at the end. OSC_TEXT_HEADROOM bytes
     * before and OSC_TEXT_PADDING behind may be written. The block before it stays
     * good until the call after this one.
     */
    osc_status (*next)(struct osc_blocks *b, char **data, size_t *len, struct osc_err *err);
};

struct osc_text {
    struct osc_blocks *blocks; /* borrowed */
    char *p, *end;
    uint64_t end_offset; /* of `end` in the text */
    uint64_t n_moves;    /* how often bytes changed their place */
    bool at_end;         /* no more blocks */
    osc_status status;   /* of the last block: OSC_OK or what went wrong */
    struct osc_err err;  /* its sentence */
    char *big;           /* owned: room for a token longer than the headroom */
    size_t big_cap;
};

/* Start at OFFSET of the text that BLOCKS yields from there. */
void osc_text_init(struct osc_text *t, struct osc_blocks *blocks, uint64_t offset);
void osc_text_fini(struct osc_text *t);

/*
 * Bring more bytes behind t->end. Bytes from KEEP on, at or before t->p, stay and
 * may move; t->p moves with them. Returns where KEEP is now, or NULL at the end of
 * the text, after an error, or when more than OSC_TEXT_KEPT_MAX bytes would be kept:
 * nothing moved then.
 */
char *osc_text_more(struct osc_text *t, char *keep);

/* Offset of P, which lies in the window. */
static inline uint64_t osc_text_offset(const struct osc_text *t, const char *p)
{
    return t->end_offset - (uint64_t)(t->end - p);
}

static inline bool osc_text_is_blank(int ch)
{
    return ch == ' ' || ch == '\n' || ch == '\t' || ch == '\r';
}

/*
 * The byte AT bytes behind t->p, or -1 where the text ends first. More is fetched if
 * need be: t->p may move, but loses nothing.
 */
static inline int osc_text_look(struct osc_text *t, size_t at)
{
    while (at >= (size_t)(t->end - t->p))
        if (!osc_text_more(t, t->p))
            return -1;
    return (unsigned char)t->p[at];
}

/*
 * The same of the first byte from *AT on that is not blank; *AT goes there. -1 too
 * where that is beyond OSC_TEXT_LOOK_MAX: it depends on the text alone, not on its blocks.
 */
static inline int osc_text_look_past_blank(struct osc_text *t, size_t *at)
{
    int ch;

    do {
        ch = *at <= OSC_TEXT_LOOK_MAX ? osc_text_look(t, *at) : -1;
    } while (osc_text_is_blank(ch) && ++*at);
    return ch;
}
