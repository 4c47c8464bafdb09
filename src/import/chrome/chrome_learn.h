/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chrome_learn.h - layouts of events, learned from the slow path.
 *
 * Programs write traces with a few fixed format strings: between its values, an event has the
 * same bytes as thousands before it. The slow path reports the positions of the values of an
 * event; the text between them becomes a path in a tree. The fast path follows that tree:
 * compare some literal bytes, read a value, compare the next bytes. It looks up no key and
 * parses no structure.
 *
 *        {"ph": "X", "cat": "cpu_op", "name": "      NAME
 *          ", "pid": 7, …, "ts":                     TS
 *            , "dur":                                DUR
 *              , "args": {"External id":             ARG number
 *                }}                                  end
 *                , "Input Dims":                     ARG nested
 *                  }}                                end
 *
 *   - The slow path would read every event that the fast path accepts in the same way: the
 *     literal bytes equal those of an event that the slow path has read, and any unusual
 *     value is refused.
 *   - Phase, category and keys are literal: they cost no more than white space.
 *   - The tree is bounded; when it is full, new layouts are read the slow way.
 *
 * Threading: one tree per thread.
 */
#pragma once

#include "import/chrome/chrome_parser.h"

#define OSC_LAYOUT_NODES_MAX    8192u
#define OSC_LAYOUT_BYTES_MAX    ((size_t)4 << 20)
#define OSC_LAYOUT_SIBLINGS_MAX 64u
#define OSC_LAYOUT_VALUES_MAX   256u
#define OSC_LAYOUT_MEMO         8u

/* The most words for the values of one event. */
#define OSC_LAYOUT_WORDS_MAX ((size_t)2 * OSC_LAYOUT_VALUES_MAX)

/* Numbers of a layout differ in type from event to event: a signature has 2 bits each. */
#define OSC_LAYOUT_NUMBERS_MAX 32u

/* The end of an event: all that follows from its literal text. */
struct osc_layout_end {
    char chrome_ph;
    uint8_t shape; /* enum osc_form_shape */
    bool has_args, is_event, is_device, is_call;
    osc_sid category;
    struct {
        uint64_t signature;
        osc_form_id form; /* none: free */
    } memo[OSC_LAYOUT_MEMO];
    uint32_t n_memo; /* how many were ever stored */
};

/*
 * The value in the same place of the last event. Devices, streams, shapes of launches and
 * threads seldom change, and comparing is cheaper than reading. The comparison includes the
 * byte after the value, so that 5 does not match 57.
 */
struct osc_layout_last {
    char text[32];
    uint32_t mask;   /* a bit for each byte that counts; 0: nothing to compare */
    uint8_t len;     /* of the value alone */
    uint8_t n_words; /* of an argument */
    uint8_t type;    /* of a number, as in a signature */
    uint8_t trust;   /* grows with every hit, falls with every miss; 0: not compared */
    uint64_t bits;   /* the words, or a pid or tid */
};

/* Literal bytes, followed by a value unless the node ends the event. Values that are words
 * (true, false, null) are part of the literal, but they are arguments nevertheless. */
struct osc_layout_node {
    const char *literal; /* followed by zero bytes up to a multiple of 32 */
    uint32_t len;
    uint32_t head_mask;      /* a bit for each of its first 32 bytes */
    uint32_t child, sibling; /* indexes, 0 is none */
    uint32_t parent;
    uint8_t role, class;
    bool is_member;
    bool looks_at_class; /* a sibling has the same bytes before another sort of value */
    osc_sid key;
    struct osc_layout_end *end; /* or NULL */
    struct osc_layout_last last;
    const struct osc_slot *words; /* the arguments in the literal */
    uint32_t n_words;
};

/* The trust in the last value of a new node, and the highest trust. */
#define OSC_LAYOUT_TRUST_FIRST 8
#define OSC_LAYOUT_TRUST_MOST  32

struct osc_chrome_layouts {
    struct osc_arena arena;
    struct osc_layout_node *nodes; /* owned; [0] is the root */
    uint32_t n_nodes;
    /* The fast path for this processor. */
    char *(*fast)(struct osc_chrome *c, char *p, const char *limit);
};

/*
 * *L stays NULL if KERNEL is "none". A NULL KERNEL means the best one for this processor.
 * OSC_EINVAL: no such kernel on this processor.
 */
OSC_MUST_USE osc_status osc_chrome_layouts_new(struct osc_chrome_layouts **l,
                                               const char *kernel);
void osc_chrome_layouts_free(struct osc_chrome_layouts *l);

/* Learn the event that began at OFFSET and ends at p, from the marks in C. */
void osc_chrome_learn(struct osc_chrome *c, uint64_t offset);

/*
 * Read events from P on, each after blanks and at most one comma, while their layout is known
 * and they begin before LIMIT, and append them as rows. Returns the end of the last event that
 * was read, or P.
 */
char *osc_chrome_fast_plain(struct osc_chrome *c, char *p, const char *limit);
char *osc_chrome_fast_avx2(struct osc_chrome *c, char *p, const char *limit);

/* The form of an event that ended at NODE; SIGNATURE has the types of its numbers. */
osc_form_id osc_chrome_layout_form(struct osc_chrome *c, struct osc_layout_end *end,
                                   uint32_t node, uint64_t signature);

/* Read the string at P, which has a backslash at AT. Returns its end. NULL: not for the fast
 * path. */
char *osc_chrome_layout_escaped(struct osc_chrome *c, char *p, char *at, osc_sid *id);
