/* SPDX-License-Identifier: Apache-2.0 */
/*
 * join.h - files of parts: what one process made of some traces, to be joined by another.
 *
 * A file of parts (X.part) has the question, and for each trace its identity and its part of
 * the answer (trace_parts.h). It is made of all files that its operands stand for, or of one
 * share of them (load.h). Files of parts may be concatenated.
 *
 *   magic "oscparts", version, zeroes, length and XXH3 of what follows
 *   table, words of the question, share, number of shares, hash of the listed files
 *   operands, whether reading failed, notes, what was left out, number of answers,
 *   the ends of its traces, and their parts of each answer
 *
 * Shares of the same operands make one group; groups stand in the order in which they are
 * added. Within a group, traces have the order in which one process reads them. So the answer
 * is, to the byte, that of one process with the operands of all groups.
 *
 * Threading: not locked.
 */
#pragma once

#include "ask/trace_parts.h"
#include "base/fields.h"

#define OSC_JOIN_VERSION 1u

/* Append a file of parts to OUT: those of B for the question R about L, which O has loaded.
 * OSC_ENOMEM. */
OSC_MUST_USE osc_status osc_join_put(struct osc_strbuf *out, const struct osc_request *r,
                                     const struct osc_load *o, const struct osc_loaded *l,
                                     const struct osc_trace_parts *b);

/* A file of parts that was opened. */
struct osc_join_file {
    const char *name; /* borrowed; for messages */
    struct osc_str table, words;
    struct osc_share share;
    uint64_t listed;
    uint32_t first_operand, n_operands; /* in struct osc_joined */
    bool has_failed;
    struct osc_str notes;
    struct osc_fields left; /* where what it left out begins (left_out.h) */
    uint32_t n_answers;
    struct osc_fields parts;
    uint32_t group;
};

/* Files of parts to be joined. Zeroed, there are none. */
struct osc_joined {
    struct osc_join_file *files; /* owned; they borrow their bytes */
    const char **operands;       /* owned array of borrowed texts: those of all files */
    const char **paths;          /* owned array of borrowed texts: those of all groups */
    size_t cap_files, cap_operands;
    uint32_t n_files, n_operands, n_paths;
    struct osc_strbuf notes;  /* lines for the user: those of all files, and missing shares */
    struct osc_left_out left; /* owned */
    bool has_failed;          /* a file says so, or a share is missing */
};

/*
 * Add the files of parts in the N_BYTES at BYTES, which J borrows; messages call them NAME.
 * OSC_EFORMAT: one is none, cut, damaged or of another version; those before it were added, and
 * J can go on. OSC_EINVAL: they answer another question than those that were added before.
 */
OSC_MUST_USE osc_status osc_joined_add(struct osc_joined *j, const char *name,
                                       const char *bytes, size_t n_bytes, struct osc_err *err);

/* Set R, which is zeroed, to the question of J, which has a file. */
OSC_MUST_USE osc_status osc_joined_request(const struct osc_joined *j, struct osc_request *r,
                                           struct osc_err *err);

/* After all files were added, find groups and missing shares. OSC_EINVAL: a share is there
 * twice, or files have changed between shares. */
OSC_MUST_USE osc_status osc_joined_end(struct osc_joined *j, struct osc_err *err);

/*
 * Add the parts of J, which has ended, to B, which has the questions, and make L as if the
 * files had been read and visited. O says who hears the notes.
 */
OSC_MUST_USE osc_status osc_joined_load(const struct osc_joined *j, struct osc_loaded *l,
                                        struct osc_trace_parts *b, const struct osc_load *o,
                                        struct osc_err *err);

void osc_joined_fini(struct osc_joined *j);
