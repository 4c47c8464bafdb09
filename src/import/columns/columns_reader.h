/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns_reader.h - open what `opscope export -o X.osc` wrote: the columns are the file.
 *
 * Opening reads what is small and common to all rows (texts, forms, tracks). Columns are read
 * by osc_trace_touch() alone, before anybody uses them, into memory where they have the layout
 * of the file, and there each is checked against its hash and its bounds. Rows of a chunk any
 * column of which is damaged are lost; the others stay.
 *
 *   - Nothing in the file is believed: whoever has written it may have got the hashes
 *     right and everything else wrong.
 *   - Nothing of the file is mapped. It may be overwritten, cut or removed at any time: what
 *     was checked is a copy, and what comes too short or is not what the index says is lost.
 *   - Until the columns are read the file stays open. Where descriptors run short they are
 *     read at once.
 *   - What cannot be read at offsets (a pipe, a compressed file, memory) is copied first.
 *
 * Where something is left out while loading (osc_import_keep), chunks of events are looked
 * at right away, one after the other, and only the rows that are wanted are copied.
 *
 * Threading: as reader.h says; columns are checked by several threads.
 */
#pragma once

#include "import/build/reader.h"
#include "import/osc/osc_file.h"
#include "wire/column_layout.h"

/* Fill the trace of R with part R->options->part of F. */
OSC_MUST_USE osc_status osc_columns_read(struct osc_reading *r, struct osc_file *f,
                                         struct osc_err *err);

/* --- between columns_reader.c, columns_gather.c and columns_check.c --------------------- */

/* A file that is being opened. */
struct osc_columns_opening {
    struct osc_reading *r;
    struct osc_trace *t;
    const struct osc_file *f;
    const unsigned char *base; /* the file in memory, which the trace owns; NULL: it is read */
    uint16_t part;
    uint32_t n_texts;
};

/* Whether chunk I of the file is of the trace that O opens. */
static inline bool osc_columns_is_ours(const struct osc_columns_opening *o, size_t i)
{
    return o->f->chunks[i].header.flags == o->part;
}

/*
 * Make chunks of the trace of the columns in the file of O. They are read by osc_trace_touch(),
 * or now if rows are left out or descriptors run short.
 */
OSC_MUST_USE osc_status osc_columns_gather(struct osc_columns_opening *o,
                                           const struct osc_wire_model *model);

/* A column of a chunk of rows: where it is, and the data from its header. */
struct osc_column_place {
    const unsigned char *p; /* in memory; NULL: in the file, or nowhere */
    uint64_t offset;        /* of its payload in the file; 0: it is not in the file */
    uint64_t n_bytes, hash;
};

/* Why the rows of a chunk are lost. */
enum osc_column_loss { OSC_COLUMNS_GOOD, OSC_COLUMNS_CORRUPT, OSC_COLUMNS_CUT };

/* A chunk of rows that has not been checked yet. */
struct osc_unchecked_chunk {
    struct osc_chunk *chunk; /* the trace's */
    uint64_t offset;         /* of its first column in the file */
    size_t at;               /* where its columns will be in the memory for all of them */
    bool is_other;
    enum osc_column_loss loss;
    struct osc_column_place columns[OSC_COLUMN_COUNT];
};

/* The type behind osc_trace.unchecked. */
struct osc_unchecked {
    struct osc_unchecked_chunk *chunks; /* owned; of events, then of others */
    uint32_t n_chunks;
    size_t cap_chunks;
    int fd;         /* owned, of the file; -1: all columns are in memory */
    size_t n_bytes; /* of the columns to read; reserved for the trace */
};

/* Bytes of memory for the columns of U that are not there yet. */
size_t osc_columns_room(const struct osc_unchecked_chunk *u);

/*
 * Read the columns of U from FD to TO, which has room for them and is aligned to 64. Sets
 * the loss of U if the file is shorter than it was, or cannot be read.
 */
void osc_columns_fetch(struct osc_unchecked_chunk *u, int fd, unsigned char *to);

void osc_unchecked_free(void *unchecked);

/* The checks for rows of a form. */
struct osc_form_needs {
    uint32_t n_words;
    uint16_t n_texts;
    uint16_t first, second; /* places of the words that are texts; equal if there is only
                             * one */
    const uint16_t *places; /* of all of them */
};

/* The checks for the rows of a trace. */
struct osc_columns_rules {
    uint32_t n_texts, n_forms, n_tracks;          /* ids are below these */
    struct osc_form_needs *of_events, *of_others; /* owned; by form */
    uint16_t *places;                             /* owned */
};

/* Make the rules for T, whose texts, forms and tracks are loaded. Call
 * osc_columns_rules_fini() even after a failure. */
OSC_MUST_USE osc_status osc_columns_rules_make(struct osc_columns_rules *c,
                                               const struct osc_trace *t);
void osc_columns_rules_fini(struct osc_columns_rules *c);

/* Point the columns of U's chunk to where they are in memory. False: they are damaged or break
 * the rules. */
bool osc_columns_look(const struct osc_columns_rules *r, struct osc_unchecked_chunk *u);

/* Count ROWS, at OFFSET of the file, as lost. */
void osc_columns_lose(struct osc_trace *t, enum osc_finding_code code, uint64_t offset,
                      const struct osc_chunk *rows);

/* osc_trace.check: see osc_trace_touch(). */
OSC_MUST_USE osc_status osc_columns_check(struct osc_trace *t, unsigned n_threads,
                                          struct osc_err *err);
