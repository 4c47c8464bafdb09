/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chrome_text.h - records of a trace as lines of Chrome's JSON.
 *
 *   {"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":2,"ts":3.141,"dur":0.500
 *   '------------ form -------------'      '------ track ------'
 *
 *    ,"args":{"Ev Idx":7,"Call stack":"a.py(1): f"}}
 *    '---- form ----' '----- form ----'           '' form
 *
 * The text that all records of a form share is made once, as literals, each with the value
 * that follows it. So is the text that all records of a track share, and every string is
 * escaped once. Writing a record takes a few copies and a few numbers.
 *
 *   - Times are decimal microseconds with three decimals: exact.
 *   - A range that the file had as a pair of B and E is written as one X. A pair of b and e
 *     is written as a pair, one directly after the other.
 *   - The series of a counter sample, which are separate rows, become one record again.
 *
 * Threading: a struct osc_chrome_text is read-only once made; a struct osc_text_out belongs to
 * one thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/strbuf.h"
#include "codec/digits.h"
#include "export/chrome_ids.h"
#include "model/trace.h"

/* A range of bytes in osc_chrome_text.literals. */
struct osc_chrome_literal {
    size_t at;
    uint32_t len;
};

/* A literal and the value after it. */
struct osc_chrome_op {
    struct osc_chrome_literal literal;
    uint16_t word;
    uint8_t type; /* enum osc_arg_type of a type with words; or enum osc_chrome_id */
};

struct osc_chrome_form {
    struct osc_chrome_literal head; /* up to the name */
    struct osc_chrome_literal tail;
    struct osc_chrome_literal member_tail; /* stands in place of args in the e of an
                                            * asynchronous range */
    size_t first_op;
    uint32_t n_ops, n_member_ops;
    char ph;
    uint8_t shape; /* enum osc_form_shape */
    bool has_words;
    size_t room; /* bytes of everything except strings and the track's part */
};

/* An escaped string, or a track's part of a record. */
struct osc_chrome_piece {
    const char *s; /* borrowed, or in an arena; NULL: none */
    uint32_t len;
};

/* Zeroed, it is empty. */
struct osc_chrome_text {
    const struct osc_trace *t;     /* borrowed */
    bool no_stacks;                /* as in struct osc_export */
    struct osc_chrome_form *forms; /* owned; by osc_form_id */
    struct osc_chrome_op *ops;     /* owned */
    size_t n_ops, cap_ops;
    struct osc_strbuf literals;       /* owned; with some spare bytes at the end */
    struct osc_chrome_piece *strings; /* pages, owned; by osc_sid: as string contents */
    struct osc_chrome_piece *texts;   /* pages, owned; by osc_sid: as lists and objects */
    size_t pieces_bytes;              /* size of each of the two */
    struct osc_chrome_piece *tracks;  /* owned; by osc_track_id */
    struct osc_arena *arenas;         /* owned; for copied strings and tracks */
    uint32_t n_arenas;
    struct osc_chrome_callers callers; /* owned */
    osc_status *statuses;              /* owned; one per arena, while strings are escaped */
};

/* Prepare for records of T, without stacks if NO_STACKS. Call osc_chrome_text_fini() even after
 * a failure. */
OSC_MUST_USE osc_status osc_chrome_text_make(struct osc_chrome_text *x,
                                             const struct osc_trace *t, bool no_stacks,
                                             unsigned n_threads);
void osc_chrome_text_fini(struct osc_chrome_text *x);

/* Cached text of a double: a trace has few distinct ones, and formatting is slow. */
struct osc_text_double {
    uint64_t bits;
    char text[OSC_DIGITS_MAX];
    uint32_t len; /* 0: empty */
};

/* The digits that all times within one tenth of a second share. */
struct osc_text_time {
    uint64_t from_ns; /* start of the tenth; 0: empty */
    char text[16];
    uint32_t len;
};

/* Text being written. Zeroed, it is empty; status is sticky. */
struct osc_text_out {
    char *start, *p, *end; /* owned */
    osc_status status;
    struct osc_text_time time;
    struct osc_text_double doubles[256]; /* recently written, indexed by a hash of their
                                          * bits */
};

void osc_text_out_fini(struct osc_text_out *o);

/* Make room for N bytes after p. False: see status. */
bool osc_text_out_more(struct osc_text_out *o, size_t n);

/* Which rows to write: all events, or some records of the other store. */
enum osc_chrome_sort { OSC_CHROME_EVENTS, OSC_CHROME_ABOUT, OSC_CHROME_ARROWS };

/* Rows of a chunk to be written. */
struct osc_chrome_rows {
    const struct osc_chunk *c;
    uint32_t next, end; /* of its rows */
    enum osc_chrome_sort of;
};

/* Whether ROWS contain any record to be written. */
bool osc_chrome_rows_any(const struct osc_trace *t, const struct osc_chrome_rows *rows);

/*
 * Append the records of ROWS, each as ",\n" and a line, until the text has FULL bytes or all
 * are written; rows->next is advanced.
 */
void osc_chrome_text_rows(const struct osc_chrome_text *x, struct osc_chrome_rows *rows,
                          size_t full, struct osc_text_out *o);

/* Append the head of the file, up to the opening bracket of the list of events. */
void osc_chrome_text_head(const struct osc_trace *t, struct osc_strbuf *out);
/* Append records with the names of threads and processes, unless T has such records, and
 * OSC_QUEUE_RECORD for each queue that neither an event nor a record of T tells. */
void osc_chrome_text_names(const struct osc_trace *t, struct osc_strbuf *out);

/* Append everything after the events. */
void osc_chrome_text_tail(const struct osc_trace *t, struct osc_strbuf *out);
