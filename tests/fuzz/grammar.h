/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grammar.h - made-up traces of 1 to 12 records that know what programs write.
 *
 * Random bytes seldom say "/device:GPU:0". Here every record is of the grammar of some program:
 * the phases of Chrome's format, the names of processes, threads and calls by which
 * import/chrome tells producers and device lines, arguments of every type, ids that repeat.
 * Members are missing, empty, of the wrong type or there twice, and in any order.
 *
 * The same seed makes the same bytes.
 *
 * Threading: pure functions of their arguments.
 */
#pragma once

#include "base/strbuf.h"

/* The random numbers of one trace. */
struct grammar {
    uint64_t state;
};

/* A number below N, which is not 0. */
static inline uint32_t grammar_below(struct grammar *g, uint32_t n)
{
    g->state = g->state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(((g->state >> 33) * n) >> 31);
}

/* True once in N. */
static inline bool grammar_once_in(struct grammar *g, uint32_t n)
{
    return grammar_below(g, n) == 0;
}

/* Append the trace of SEED, JSON as programs write it, to OUT. */
void grammar_trace(struct osc_strbuf *out, uint64_t seed);

/* Append the recording of SEED, an .osc file of records, to OUT. */
void grammar_recording(struct osc_strbuf *out, uint64_t seed);
