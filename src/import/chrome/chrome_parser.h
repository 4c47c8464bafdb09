/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chrome_parser.h - inside the reader of Chrome trace events: one thread's parser.
 *
 *   chrome_reader.c units of text, threads
 *   chrome_file.c   top level of the file, the list of events, finding back
 *   chrome_token.c  tokens on the window: strings with PyTorch's defects, values
 *   chrome_event.c  one event, any order of members, any defect: the slow path
 *   chrome_learn.c  what the slow path saw, kept as a tree of layouts
 *   chrome_fast.inc the fast path: events whose layout is known
 *
 * Threading: a parser belongs to one thread.
 */
#pragma once

#include "base/strbuf.h"
#include "codec/json.h"
#include "import/build/builder.h"
#include "import/bytes/text_window.h"

#define OSC_NESTING_MAX 10000u

/* A string token: raw bytes between its quotation marks. */
struct osc_chrome_string {
    char *s; /* in the window */
    size_t len;
    bool has_escape;  /* a backslash is in it */
    bool is_repaired; /* bare quotation marks or control characters are in it */
    bool is_doubtful; /* where it ends depends on what follows the event: not to be learned */
    bool is_cut;      /* longer than OSC_TOKEN_MAX */
};

/* Where a value of an event stood, for learning its layout. */
enum osc_chrome_role {
    OSC_ROLE_NAME,
    OSC_ROLE_PID,
    OSC_ROLE_TID,
    OSC_ROLE_TS,
    OSC_ROLE_DUR,
    OSC_ROLE_ARG,
    OSC_ROLE_SKIP, /* an argument that is not kept */
    OSC_ROLE_WORD, /* an argument that is true, false or null: part of the layout */
};

enum osc_chrome_class { OSC_CLASS_NUMBER, OSC_CLASS_STRING, OSC_CLASS_NESTED };

struct osc_chrome_mark {
    uint64_t start, end; /* offsets of the token in the text; a string's without quotes */
    uint8_t role, class;
    uint8_t word; /* of role WORD: its type */
    bool is_member;
    osc_sid key;
};

struct osc_chrome_layouts;

struct osc_chrome {
    struct osc_text text;
    struct osc_builder *builder;
    struct osc_findings *findings; /* builder->findings */

    /* The event being read. */
    struct osc_record record;
    struct osc_slot *slots; /* owned */
    size_t cap_slots;
    uint32_t *words; /* owned */
    size_t cap_words;
    struct osc_strbuf scratch;                   /* an unescaped string */
    struct osc_strbuf long_text;                 /* the start of a string that is too long */
    uint64_t is_brace[OSC_NESTING_MAX / 64 + 1]; /* of the levels of a nested value */
    struct osc_json_micros ts, dur;
    bool has_ts, has_dur;
    bool bad_ts, bad_dur; /* there, but no time; counted */
    bool args_are_full;
    uint32_t n_members; /* read so far */
    bool one_per_line;  /* every member so far began on a line of its own */

    struct osc_meta *metas; /* owned; top-level members */
    size_t n_metas, cap_metas;
    bool saw_list;        /* of events, be it empty, in any document */
    bool has_list;        /* the document being read has one */
    size_t n_older_metas; /* of documents before it */
    uint64_t document_at; /* offset where it begins */
    uint64_t item_at;     /* where what is read in the list begins, be it broken */
    bool (*tick)(struct osc_chrome *c); /* called now and then; false: stop */
    void *tick_ctx;

    /* Learning. */
    struct osc_chrome_mark *marks; /* owned */
    size_t n_marks, cap_marks;
    bool can_learn;
    struct osc_chrome_layouts *layouts; /* owned; NULL: slow path alone */
};

/* chrome_file.c */

/* Where in the file a parser stands. */
enum osc_chrome_state {
    OSC_CHROME_START,  /* nothing read yet */
    OSC_CHROME_TOP,    /* inside the top-level object */
    OSC_CHROME_EVENTS, /* inside the list of events of that object */
    OSC_CHROME_BARE,   /* inside a list of events that is the whole file */
    OSC_CHROME_GUESS,  /* inside a list of events, of which sort is not known yet */
    OSC_CHROME_LISTED, /* just behind such a list */
    OSC_CHROME_END,    /* nothing more to read */
};

/*
 * Where C stands once the list of events LIST has ended just before p: in a bare list
 * that is the end of the document, and another one may follow.
 */
enum osc_chrome_state osc_chrome_behind_list(struct osc_chrome *c, enum osc_chrome_state list);

/*
 * Whether a bare list does not end with the ']' just before p: what follows is the rest of
 * a broken event.
 */
bool osc_chrome_goes_on(struct osc_chrome *c);

/*
 * Read on until an event begins at or behind offset STOP, or to the end. Errors of
 * the text itself are left in c->text.status; false if the builder failed or the
 * user cancelled.
 */
bool osc_chrome_run(struct osc_chrome *c, enum osc_chrome_state *state, uint64_t stop);

/* chrome_token.c */

/* The next byte that is not blank, or -1 at the end; it is not consumed. */
int osc_chrome_peek(struct osc_chrome *c);

/* The same; *NEWLINE tells whether a line break was passed. */
int osc_chrome_peek_line(struct osc_chrome *c, bool *newline);

enum osc_token_status {
    OSC_TOKEN_OK,
    OSC_TOKEN_END,  /* the text ended in it */
    OSC_TOKEN_BAD,  /* not what was expected */
    OSC_TOKEN_NEXT, /* another event begins, at p, where this one should have ended */
    OSC_TOKEN_DEEP, /* nested too deep; skipped */
    OSC_TOKEN_LONG, /* longer than OSC_TOKEN_MAX; skipped */
};

/* The key at the opening quotation mark at p. */
enum osc_token_status osc_chrome_key(struct osc_chrome *c, struct osc_chrome_string *out);

/*
 * The string at the opening quotation mark at p; p goes behind it. IN_LINE: the
 * member stands on a line of its own, as PyTorch 2.13 writes, so that its true end
 * can be told by the end of the line.
 */
enum osc_token_status osc_chrome_string(struct osc_chrome *c, bool in_line,
                                        struct osc_chrome_string *out);

/*
 * The list or object at p, as raw text; p goes behind it. NEXT: it is OF_EVENT, a bracket
 * of it is lost, and another event begins at p.
 */
enum osc_token_status osc_chrome_nested(struct osc_chrome *c, bool of_event,
                                        struct osc_str *out);

/* A number or bare word at p, as raw text; p goes behind it. */
enum osc_token_status osc_chrome_bare(struct osc_chrome *c, struct osc_str *out);

/* Bytes of S as they are meant: unescaped in c->scratch if need be. Counts flaws. */
struct osc_str osc_chrome_text(struct osc_chrome *c, const struct osc_chrome_string *s);

/* The id of S's text. */
osc_sid osc_chrome_intern(struct osc_chrome *c, const struct osc_chrome_string *s);

/* chrome_event.c */

/*
 * Read the event at the opening brace at p and build what it says. BAD, NEXT: p is
 * where it stopped to make sense. END: the text ended in it. Nothing was built then.
 */
enum osc_token_status osc_chrome_event(struct osc_chrome *c);

/*
 * A parser that builds with B. KERNEL as in struct osc_import_options: which fast
 * path it uses.
 */
OSC_MUST_USE osc_status osc_chrome_init(struct osc_chrome *c, struct osc_builder *b,
                                        const char *kernel);

/* Go on with text from BLOCKS, which begins at OFFSET. What was learned stays. */
void osc_chrome_restart(struct osc_chrome *c, struct osc_blocks *blocks, uint64_t offset);
void osc_chrome_fini(struct osc_chrome *c);
