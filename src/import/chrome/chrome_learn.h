/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chrome_learn.h - layouts of events, learned from the slow path.
 *
 * Writers of traces use a few fixed format strings: between its values, an event
 * has the same bytes as thousands before it. The slow path reports where the
 * values of an event stood; the text between them becomes a path in a tree. The
 * fast path follows that tree: compare some literal bytes, read a value, compare
 * the next bytes; no key is looked up, no structure is searched for.
 *
 *        {"ph": "X", "cat": "cpu_op", "name": "      NAME
 *          ", "pid": 7, …, "ts":                     TS
 *            , "dur":                                DUR
 *              , "args": {"External id":             ARG number
 *                }}                                  end
 *                , "Input Dims":                     ARG nested
 *                  }}                                end
 *
 *   - What the fast path accepts, the slow path would have read in the same way:
 *     the literal bytes are equal to those of an event that it has read, and a
 *     value that is unusual in any respect is refused.
 *   - Phase, category and keys are literal: they cost no more than white space.
 *   - The tree is bounded; when it is full, what is new goes the slow way.
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

/* Words that the values of one event may take. */
#define OSC_LAYOUT_WORDS_MAX ((size_t)2 * OSC_LAYOUT_VALUES_MAX)

/* Numbers of a layout differ in type from event to event: a signature has 2 bits each. */
#define OSC_LAYOUT_NUMBERS_MAX 32u

/* What the end of an event knows. */
struct osc_layout_end {
    char chrome_ph;
    uint8_t shape; /* enum osc_form_shape */
    bool has_args, is_event, is_device;
    osc_sid category;
    struct {
        uint64_t signature;
        osc_form_id form; /* none: free */
    } memo[OSC_LAYOUT_MEMO];
    uint32_t n_memo; /* how many were ever put in */
};

/*
 * The value that stood there last time. Devices, streams, shapes of launches and
 * threads seldom change: comparing is cheaper than reading. The byte behind the
 * value is compared with it, so that 5 is not found in 57.
 */
struct osc_layout_last {
    char text[32];
    uint32_t mask;   /* a bit for each byte that counts; 0: nothing to compare */
    uint8_t len;     /* of the value alone */
    uint8_t n_words; /* of an argument */
    uint8_t type;    /* of a number, as in a signature */
    uint8_t trust;   /* up with every hit, down with every miss; 0: not tried */
    uint64_t bits;   /* the words, or a pid or tid */
};

/* Literal bytes, and the value behind them unless it ends the event. Words that are
 * values (true, false, null) are literal too, but arguments nevertheless. */
struct osc_layout_node {
    const char *literal; /* zero bytes behind it up to a multiple of 32 */
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

/* How much a new node is trusted to repeat itself, and the most it can be. */
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
 * *L stays NULL if KERNEL is "none"; NULL is the best that this processor has.
 * OSC_EINVAL: there is no such kernel here.
 */
OSC_MUST_USE osc_status osc_chrome_layouts_new(struct osc_chrome_layouts **l,
                                               const char *kernel);
void osc_chrome_layouts_free(struct osc_chrome_layouts *l);

/* Learn the event that began at OFFSET and ends at p, from the marks in C. */
void osc_chrome_learn(struct osc_chrome *c, uint64_t offset);

/*
 * Read events from P on, each behind blanks and at most one comma, as long as their
 * layout is known and they begin before LIMIT. Returns where it stopped: the end of
 * the last event it read, or P. Builds what it reads.
 */
char *osc_chrome_fast_plain(struct osc_chrome *c, char *p, const char *limit);
char *osc_chrome_fast_avx2(struct osc_chrome *c, char *p, const char *limit);

/* The form of an event that ended at NODE, the types of its numbers by SIGNATURE. */
osc_form_id osc_chrome_layout_form(struct osc_chrome *c, struct osc_layout_end *end,
                                   uint32_t node, uint64_t signature);

/* The string at P, which has a backslash at AT, to its end. NULL: not for the fast path. */
char *osc_chrome_layout_escaped(struct osc_chrome *c, char *p, char *at, osc_sid *id);
