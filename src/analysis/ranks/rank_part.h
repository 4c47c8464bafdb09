/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_part.h - what tables of ranks need of one trace, packed into one cell.
 *
 * map() finds the steps and collectives of a trace (calls.h) and packs them as bytes: about 25
 * for a collective, 60 for a step. The cell is one row of the partial result, which merging
 * only appends. finish() unpacks the rows of all traces (run.h) and compares them.
 *
 *   - Times count from base_ns, which the column of that name holds as a moment.
 *   - Words are indexes into the part's own list of texts, from 1; 0 is none. Once unpacked
 *     they are ids of all parts together.
 *   - Calls are in order of start; of equal starts the longer is first.
 *
 * Threading: not locked.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/ranks/collective.h"
#include "base/arena.h"
#include "base/intern.h"
#include "base/strbuf.h"
#include "derive/breakdown.h"
#include "derive/intervals.h"

/* A kept step, including its device work. */
struct osc_rank_step {
    int64_t start_ns, end_ns;
    int64_t cost_ns[OSC_COST_COUNT];
    uint32_t label; /* word */
};

/* How long something of one name took between two collectives of a rank. */
struct osc_rank_work {
    uint32_t name; /* word */
    int64_t ns;
};

/* The part of one rank in a collective. */
struct osc_rank_call {
    int64_t start_ns, end_ns; /* from the first start of its ranges to their last end */
    int64_t seq;              /* number within the group; -1: not recorded */
    int64_t in_bytes;         /* that this rank sends; -1: not known */
    int64_t bytes;            /* of the message, as bandwidths count it; -1: not known */
    int64_t elements;         /* of the message; -1: not known */
    uint32_t name;            /* word, as the program names it */
    uint32_t group, ranks;    /* words: name of the process group, list of its ranks */
    uint32_t dtype;           /* word */
    uint32_t size;            /* number of ranks in the group; 0: not recorded */
    uint32_t step;            /* index of the step that contains it, + 1; 0: none */
    uint32_t first, n_ranges; /* its ranges */
    uint32_t first_work; /* what took longest since the collective before, the longest first */
    uint8_t n_work;
    int64_t work_ns; /* sum of all of it, also of what is not kept */
    uint8_t op;      /* enum osc_collective */
};

/* Zeroed, it is empty. */
struct osc_rank_part {
    struct osc_rank_step *steps; /* owned */
    struct osc_rank_call *calls; /* owned */
    struct osc_rank_work *work;  /* owned; of all calls; only for stragglers */
    struct osc_interval *ranges; /* owned; of all calls */
    size_t n_steps, n_calls, n_ranges, n_work, cap_steps, cap_calls, cap_ranges, cap_work;
    uint32_t worker, host, device, device_name; /* words */
    uint32_t file;                              /* word: where it was read */
    uint32_t world_size;                        /* 0: not recorded */
    uint32_t n_marked;                          /* steps that the program marked, kept or not */
    bool is_cut;                                /* part of the trace was not read or selected */
    int64_t end_ns;                             /* of the last event */
};

/* The texts of one or more parts. Zeroed, it is empty. */
struct osc_rank_words {
    struct osc_arena arena;
    struct osc_intern words; /* its arena is set when the first word is added */
};

void osc_rank_words_fini(struct osc_rank_words *w);

/* Set *WORD to the id of TEXT; of an empty text 0. */
OSC_MUST_USE osc_status osc_rank_word(struct osc_rank_words *w, struct osc_str text,
                                      uint32_t *word);

static inline struct osc_str osc_rank_text(const struct osc_rank_words *w, uint32_t word)
{
    return osc_intern_str(&w->words, (osc_sid){word});
}

void osc_rank_part_fini(struct osc_rank_part *p);

/* Append P, whose words are W, to OUT. */
void osc_rank_part_pack(const struct osc_rank_part *p, const struct osc_rank_words *w,
                        struct osc_strbuf *out);

/* Unpack BYTES to P, which is empty, and add its words to W. OSC_EINVAL: damaged. */
OSC_MUST_USE osc_status osc_rank_part_unpack(struct osc_str bytes, struct osc_rank_words *w,
                                             struct osc_rank_part *p);
