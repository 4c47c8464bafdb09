/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cols.h - rows of a frame as bytes that JavaScript reads without parsing (format=cols).
 *
 * All numbers are little-endian. Every array begins at a multiple of 8 bytes from the start of
 * the body, so it can be viewed in place.
 *
 *     at        bytes
 *     0         8           "osccols1"
 *     8         4           u32: bytes of the head, without the padding
 *     12        4           u32: where the data begin, a multiple of 8
 *     16        ...         the head, JSON in UTF-8, padded with blanks
 *     data      ...         arrays; the head says where, from the start of the data on
 *
 * The head:
 *
 *     {"opscope", "schema", "table", "fingerprint", "command",
 *      "rows": of the whole answer, "offset": of the first one here, "n": rows here,
 *      "notes": [text...],
 *      "columns": [{"name", "type": "string|integer|number|boolean", "unit": text or null,
 *                   "array": "BigInt64Array|Float64Array|Uint8Array|Uint32Array",
 *                   "at": its n values, "missing": n bytes, 1 where there is no value; or null,
 *                   "help", "sum", "labels": {name: label...} or absent}...],
 *      "made": its n values (Uint32Array): the numbers of the rows before they were sorted,
 *              among those of their rank and span; only with made=1 (ask/frame.h),
 *      "questions": [{"table", "options": {name: text or true...}} or null...]: for each row
 *              the one whose rows are its evidence; only of tables that have it (advice,
 *              headlines),
 *      "words": {"n", "offsets": at, "bytes": at, "n_bytes"}}
 *
 *   integer   BigInt64Array; with ints=number a Float64Array if all values of the column here
 *             are exact in one (within 2^53)
 *   number    Float64Array
 *   boolean   Uint8Array of 0 and 1
 *   string    Uint32Array: indexes of words; all columns share them; 0 where it is missing
 *   missing   reads as 0 in the other arrays
 *   labels    of names of C++ functions here: short, and different from those of all others in
 *             the column (names/labels.h)
 *   sum       only with sums=1: of all rows of the answer, as text, because integers may
 *             exceed 2^53; null: it has none, or not all rows were made
 *
 * Word i is the UTF-8 from offsets[i] to offsets[i + 1] in bytes; offsets is a Uint32Array of
 * n + 1. Only words that occur here are there; they are distinct.
 *
 *     const head = JSON.parse(text(new Uint8Array(body, 16, u32(8))));
 *     const array = new BigInt64Array(body, u32(12) + column.at, head.n);
 *
 * Threading: pure functions; the buffer is the caller's.
 */
#pragma once

#include "base/strbuf.h"
#include "opscope/trace.h"
#include "table/table.h"

/* Which rows, and how. */
struct osc_cols {
    const struct osc_frame *frame;
    const struct osc_table_def *def; /* of the frame, for its columns of kernels; or NULL */
    uint64_t first, n_all;  /* the row of the answer with which the frame begins, and how many
                             * rows the answer has; if n_all is 0, the frame has all */
    uint64_t offset, limit; /* rows of the answer; what is beyond its end is left out */
    bool has_numbers;       /* ints=number */
    bool has_made;          /* made=1 */
    bool has_sums;          /* sums=1 */
    const char *command;    /* or NULL */
};

/* Append the bytes to OUT. OSC_ELIMIT: the words here have 4 GiB or more. */
OSC_MUST_USE osc_status osc_cols_write(struct osc_strbuf *out, const struct osc_cols *cols);
