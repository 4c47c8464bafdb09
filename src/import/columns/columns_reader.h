/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns_reader.h - open what `opscope export -o X.osc` wrote: the columns are the file.
 *
 * The file is mapped, and the columns of the trace are pointers into it. Opening reads
 * what is small and common to all rows (texts, forms, tracks); columns are looked at by
 * osc_trace_touch() alone, each against its hash and its bounds, before anybody uses
 * them. Rows of a chunk any column of which is damaged are lost; the others stay.
 *
 *   - Nothing in the file is believed: whoever has written it may have got the hashes
 *     right and everything else wrong.
 *   - The mapping is private: leaving rows out and --redact change copies of pages.
 *   - A mapped file must not get shorter: the kernel would end us by SIGBUS. Exports
 *     replace files, and never write into them. Whoever changes one in place, after its
 *     columns have been checked, gets what he asked for.
 *   - What cannot be mapped (a pipe, a compressed file, memory) is copied first.
 *
 * Where something is left out while loading (osc_import_keep), chunks of events are looked
 * at right away, one after the other, and squeezed to the rows that are wanted.
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

/* --- between columns_reader.c and columns_check.c -------------------------------------- */

/* A column of a chunk of rows: its address, and the data from its header. */
struct osc_column_place {
    const unsigned char *p; /* NULL: not in the file */
    uint64_t n_bytes, hash;
};

/* A chunk of rows that has not been checked yet. */
struct osc_unchecked_chunk {
    struct osc_chunk *chunk; /* the trace's */
    uint64_t offset;         /* of its first column in the file */
    bool is_other;
    bool is_lost; /* is damaged */
    struct osc_column_place columns[OSC_COLUMN_COUNT];
};

/* The type behind osc_trace.unchecked. */
struct osc_unchecked {
    struct osc_unchecked_chunk *chunks; /* owned; of events, then of others */
    uint32_t n_chunks;
    size_t cap_chunks;
};

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

/* Point the columns of U's chunk into the file. False: they are damaged or break the rules. */
bool osc_columns_look(const struct osc_columns_rules *r, struct osc_unchecked_chunk *u);

/* Count ROWS, at OFFSET of the file, as lost. */
void osc_columns_lose(struct osc_trace *t, enum osc_finding_code code, uint64_t offset,
                      const struct osc_chunk *rows);

/* osc_trace.check: see osc_trace_touch(). */
OSC_MUST_USE osc_status osc_columns_check(struct osc_trace *t, unsigned n_threads,
                                          struct osc_err *err);
