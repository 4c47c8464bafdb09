/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_kinds.h - all sources of events: one line for each.
 *
 * Options, messages, --list-sources, the look at recordings afterwards, the counts in `quality`
 * and the collector read these lists.
 *
 * Threading: constants.
 */
#pragma once

#include <stdbool.h>

#include "sources/source_kind.h"

/*
 * The sources of libopscope-collect, in the order of their words: (NAME, FOLDER, WORD). WORD is
 * that of --sources, of OPSCOPE_SOURCES and of its reports in recordings, and its counters are
 * called "WORD: TEXT". FOLDER has osc_source_kind_FOLDER, and, if processes can start it by
 * themselves, osc_collected_FOLDER (collect.h).
 */
#define OSC_COLLECTED_LIST(X)               \
    X(CUDA, cuda, "cuda")                   \
    X(ITT, itt, "itt")                      \
    X(LEVEL_ZERO, level_zero, "level-zero") \
    X(NVTX, nvtx, "nvtx")                   \
    X(OPENCL, opencl, "opencl")

/* With those that record by themselves. */
#define OSC_SOURCE_LIST(X)                                                                  \
    X(API, api, "api")                                                                      \
    OSC_COLLECTED_LIST(X)                                                                   \
    X(TORCH, torch, "torch") /* operators of PyTorch in the whole program */                \
    X(TORCH_REPLACE, torch_variant, "torch=replace") /* opscope in place of its profiles */ \
    X(TORCH_STACK, torch_variant, "torch=stack")     /* TORCH, with calls of Python, modules */

enum osc_source_index {
#define OSC_SOURCE_INDEX(name, folder, word) OSC_SOURCE_INDEX_##name,
    OSC_SOURCE_LIST(OSC_SOURCE_INDEX)
#undef OSC_SOURCE_INDEX
        OSC_SOURCE_COUNT
};

/* Bits of a set of sources. */
enum osc_source_bit {
#define OSC_SOURCE_BIT(name, folder, word) OSC_SOURCE_##name = 1 << OSC_SOURCE_INDEX_##name,
    OSC_SOURCE_LIST(OSC_SOURCE_BIT)
#undef OSC_SOURCE_BIT
};

/* The collector records these. */
enum {
#define OSC_SOURCE_BIT(name, folder, word) | OSC_SOURCE_##name
    OSC_SOURCES_COLLECTED = 0 OSC_COLLECTED_LIST(OSC_SOURCE_BIT)
#undef OSC_SOURCE_BIT
};

#define OSC_SOURCES_TORCH (OSC_SOURCE_TORCH | OSC_SOURCE_TORCH_REPLACE | OSC_SOURCE_TORCH_STACK)

struct osc_source_entry {
    unsigned bit;
    const char *word;
    const struct osc_source_kind *kind;
};

/* All sources, in the order of OSC_SOURCE_LIST. */
extern const struct osc_source_entry osc_source_entries[OSC_SOURCE_COUNT];

/* Those that were built. */
unsigned osc_sources_built(void);
