/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chrome_parser.h - internals of the reader of Chrome trace events: one thread's parser.
 *
 *   chrome_reader.c units of text, threads
 *   chrome_file.c   top level of the file, the list of events, recovery after damage
 *   chrome_messages.c  text between events that is no JSON
 *   chrome_token.c  tokens in the window: strings with PyTorch's defects, values
 *   chrome_event.c  one event, any order of members, any defect: the slow path
 *   chrome_learn.c  a tree of the layouts that the slow path has read
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
    bool has_escape;  /* it contains a backslash */
    bool is_repaired; /* it contains bare quotation marks or control characters */
    bool is_doubtful; /* its end depends on what follows the event: do not learn it */
    bool is_cut;      /* longer than OSC_TOKEN_MAX */
};

/* The role of a value of an event, for learning the layout. */
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
    uint64_t is_brace[OSC_NESTING_MAX / 64 + 1]; /* one bit for each level of a nested value */
    struct osc_json_micros ts, dur;
    bool has_ts, has_dur;
    bool bad_ts;        /* present, but not a time; counted */
    bool has_far_ts;    /* a bad one, too far from where times count; not counted yet */
    uint64_t far_ts_at; /* its offset */
    bool args_are_full;
    uint32_t n_members; /* read so far, each on a line of its own */
    uint32_t n_read;    /* members of the event and of its args */
    bool one_per_line;  /* every member so far began on a line of its own */

    struct osc_meta *metas; /* owned; top-level members */
    size_t n_metas, cap_metas;
    bool saw_list; /* some document has a list of events, even an empty one */
    bool has_list; /* the document being read has one */
    /* Between events of a list of which it is not known whether it needs them. */
    uint64_t n_commas_missing, comma_missing_at;
    bool is_comma_due;    /* before the next member of the document */
    bool has_deep_list;   /* a member that was not read as a list may hold one */
    size_t n_older_metas; /* those of earlier documents */
    uint64_t document_at; /* offset where it begins */
    uint64_t item_at;     /* offset of the list item being read, also of a broken one */
    bool (*tick)(struct osc_chrome *c); /* called from time to time; false: stop */
    void *tick_ctx;

    /* Learning. */
    struct osc_chrome_mark *marks; /* owned */
    size_t n_marks, cap_marks;
    bool can_learn;
    struct osc_chrome_layouts *layouts; /* owned; NULL: only the slow path */
};

/* chrome_file.c */

/* The position of a parser in the structure of the file. */
enum osc_chrome_state {
    OSC_CHROME_START,     /* nothing read yet */
    OSC_CHROME_TOP,       /* inside the top-level object */
    OSC_CHROME_TOP_IN,    /* inside an object that is its member traceEvents */
    OSC_CHROME_EVENTS,    /* inside the list of events of the top-level object */
    OSC_CHROME_EVENTS_IN, /* the same of the object within it */
    OSC_CHROME_BARE,      /* inside a list of events that is the whole file */
    OSC_CHROME_LINES,     /* the same without its opening bracket, such as one event a line */
    OSC_CHROME_GUESS,     /* inside a list of events of either sort, not known yet */
    OSC_CHROME_LISTED,    /* just after such a list */
    OSC_CHROME_CUT,       /* the text has ended in such a list, behind a whole event */
    OSC_CHROME_END,       /* nothing more to read */
};

/* Whether STATE is within a list of events of a known sort. */
static inline bool osc_chrome_is_in_list(enum osc_chrome_state state)
{
    return state == OSC_CHROME_EVENTS || state == OSC_CHROME_EVENTS_IN ||
           state == OSC_CHROME_BARE || state == OSC_CHROME_LINES;
}

/* Whether a list of events in STATE is the whole document. */
static inline bool osc_chrome_is_bare(enum osc_chrome_state state)
{
    return state == OSC_CHROME_BARE || state == OSC_CHROME_LINES;
}

/*
 * The state of C after the list of events LIST has ended just before p. The end of a bare list
 * is the end of the document, and another one may follow.
 */
enum osc_chrome_state osc_chrome_behind_list(struct osc_chrome *c, enum osc_chrome_state list);

/* The same after the text of C has ended in the list of events LIST, behind a whole event. A
 * bare list needs no end, so that a program that is killed leaves a trace. */
enum osc_chrome_state osc_chrome_behind_cut(struct osc_chrome *c, enum osc_chrome_state list);

/*
 * Whether a bare list continues after the ']' just before p, because the rest of a broken event
 * follows.
 */
bool osc_chrome_goes_on(struct osc_chrome *c);

/*
 * Read until an event begins at or after offset STOP, or to the end. Errors of the text are
 * stored in c->text.status. False: the builder failed or the user canceled.
 */
bool osc_chrome_run(struct osc_chrome *c, enum osc_chrome_state *state, uint64_t stop);

/* chrome_messages.c */

/* Whether the object at p, the first of a document, is an event and no list of events is around
 * it: it has a phase. */
bool osc_chrome_is_event(struct osc_text *t);

/* Skip other text before a document, line by line. False: none follows soon. */
bool osc_chrome_find_document(struct osc_chrome *c);

/* Skip the rest of a line of text between events, such as a message, or up to an event in it.
 */
void osc_chrome_skip_text(struct osc_text *t);

/* Whether the bracket at p begins a message, such as [W1124 12:00:00] and words, and no list.
 */
bool osc_chrome_is_message(struct osc_text *t);

/* chrome_token.c */

/* The next byte that is not blank, or -1 at the end; it is not consumed. */
int osc_chrome_peek(struct osc_chrome *c);

/* The same; *NEWLINE becomes whether there was a line break before it. */
int osc_chrome_peek_line(struct osc_chrome *c, bool *newline);

enum osc_token_status {
    OSC_TOKEN_OK,
    OSC_TOKEN_END,  /* the text ended in it */
    OSC_TOKEN_BAD,  /* not what was expected */
    OSC_TOKEN_NEXT, /* another event begins at p, where this one should have ended */
    OSC_TOKEN_DEEP, /* nested too deeply; skipped */
    OSC_TOKEN_LONG, /* longer than OSC_TOKEN_MAX; skipped */
};

/* Read the key whose opening quotation mark is at p. */
enum osc_token_status osc_chrome_key(struct osc_chrome *c, struct osc_chrome_string *out);

/*
 * Read the string whose opening quotation mark is at p; p moves after it. IN_LINE: the member
 * has a line of its own, as PyTorch 2.13 writes it, so the end of the line shows where the
 * string really ends.
 */
enum osc_token_status osc_chrome_string(struct osc_chrome *c, bool in_line,
                                        struct osc_chrome_string *out);

/*
 * Read the list or object at p as raw text; p moves after it. NEXT: it is OF_EVENT, one of its
 * brackets is missing, and another event begins at p.
 */
enum osc_token_status osc_chrome_nested(struct osc_chrome *c, bool of_event,
                                        struct osc_str *out);

/* Read the number or bare word at p as raw text; p moves after it. */
enum osc_token_status osc_chrome_bare(struct osc_chrome *c, struct osc_str *out);

/* The text of S, unescaped into c->scratch if necessary. Counts flaws. */
struct osc_str osc_chrome_text(struct osc_chrome *c, const struct osc_chrome_string *s);

/* The id of S's text. */
osc_sid osc_chrome_intern(struct osc_chrome *c, const struct osc_chrome_string *s);

/* chrome_event.c */

/*
 * Read the event whose opening brace is at p and append its rows. BAD, NEXT: it is malformed
 * from p on. END: the text ended in it. In these cases no row was appended.
 */
enum osc_token_status osc_chrome_event(struct osc_chrome *c);

/*
 * Initialize a parser that builds with B. KERNEL chooses the fast path, as in struct
 * osc_import_options.
 */
OSC_MUST_USE osc_status osc_chrome_init(struct osc_chrome *c, struct osc_builder *b,
                                        const char *kernel);

/* Continue with text from BLOCKS, which begins at OFFSET. Learned layouts are kept. */
void osc_chrome_restart(struct osc_chrome *c, struct osc_blocks *blocks, uint64_t offset);
void osc_chrome_fini(struct osc_chrome *c);
