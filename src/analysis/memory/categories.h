/* SPDX-License-Identifier: Apache-2.0 */
/*
 * categories.h - what each piece of memory was for: the rules of torch's own memory profiler.
 *
 * The rules are those of torch 2.13 (torch/profiler/_memory_profiler.py), in its order; see
 * CATEGORIES of table/rules.md. They say the category of each version (data_flow.h).
 *
 *   - Without the arguments that tell the tensors of calls there are no categories.
 *
 * Threading: one writer; read-only afterwards.
 */
#pragma once

#include "analysis/memory/data_flow.h"

enum osc_memory_category {
    OSC_CATEGORY_NONE,
    OSC_CATEGORY_PARAMETER,
    OSC_CATEGORY_GRADIENT,
    OSC_CATEGORY_OPTIMIZER_STATE,
    OSC_CATEGORY_ACTIVATION,
    OSC_CATEGORY_INPUT,
    OSC_CATEGORY_TEMPORARY,
    OSC_CATEGORY_AUTOGRAD_DETAIL,
    OSC_CATEGORY_COUNT
};

/* Zeroed, it has none. */
struct osc_memory_categories {
    struct osc_touches touches;
    struct osc_data_flow flow;
    uint8_t *of_version; /* owned; enum osc_memory_category by version; NULL: there are none */
};

/* Find the categories of the memory of T, whose facts are F. */
OSC_MUST_USE osc_status osc_memory_categories_make(const struct osc_trace *t,
                                                   const struct osc_facts *f,
                                                   struct osc_memory_categories *c);
void osc_memory_categories_fini(struct osc_memory_categories *c);

/* The category of allocation K: that of its first version which has one. */
enum osc_memory_category osc_memory_category_of(const struct osc_memory_categories *c,
                                                uint32_t k);

/* The category that allocation K had at AT_NS, on the clock of the file. */
enum osc_memory_category osc_memory_category_at(const struct osc_memory_categories *c,
                                                uint32_t k, int64_t at_ns);

/* The word for CATEGORY, or NULL for NONE. */
const char *osc_memory_category_word(enum osc_memory_category category);
