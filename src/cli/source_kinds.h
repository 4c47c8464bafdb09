/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_kinds.h - the sources that `opscope run` knows: one line for each.
 *
 * Options, messages, --list-sources and the look at recordings afterwards all read this list.
 *
 * Threading: constants.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* NAME, and the word of --sources and OPSCOPE_SOURCES. */
#define OSC_SOURCE_LIST(X)                                                                 \
    X(API, "api")                                                                          \
    X(CUDA, "cuda")                                                                        \
    X(ITT, "itt")                                                                          \
    X(LEVEL_ZERO, "level-zero")                                                            \
    X(NVTX, "nvtx")                                                                        \
    X(OPENCL, "opencl")                                                                    \
    X(TORCH, "torch")                 /* operators of PyTorch in the whole program */      \
    X(TORCH_REPLACE, "torch=replace") /* opscope in place of the program's own profiles */ \
    X(TORCH_STACK, "torch=stack")     /* TORCH, with calls of Python and modules */

enum osc_source_index {
#define OSC_SOURCE_INDEX(name, word) OSC_SOURCE_INDEX_##name,
    OSC_SOURCE_LIST(OSC_SOURCE_INDEX)
#undef OSC_SOURCE_INDEX
        OSC_SOURCE_COUNT
};

/* Bits of a set of sources. */
enum osc_source_bit {
#define OSC_SOURCE_BIT(name, word) OSC_SOURCE_##name = 1 << OSC_SOURCE_INDEX_##name,
    OSC_SOURCE_LIST(OSC_SOURCE_BIT)
#undef OSC_SOURCE_BIT
};

#define OSC_SOURCES_TORCH (OSC_SOURCE_TORCH | OSC_SOURCE_TORCH_REPLACE | OSC_SOURCE_TORCH_STACK)

struct osc_source_kind {
    unsigned bit;
    const char *word;
    const char *title; /* in sentences */
    const char *what;  /* what it records; NULL: a variant of another source */
    bool is_collected; /* by libopscope-collect, which says so in each recording */
    const char
        *variable;       /* of that: by it, clients load the collector; NULL: it is preloaded */
    bool is_list;        /* it may name others after ours, with ':' between */
    const char *unused;  /* of one that is collected: why nothing may have loaded it */
    const char *missing; /* how to get it; NULL: it was built */
};

extern const struct osc_source_kind osc_source_kinds[OSC_SOURCE_COUNT];

/* Those that the collector records. */
unsigned osc_sources_collected(void);

/* Those that were built. */
unsigned osc_sources_built(void);
