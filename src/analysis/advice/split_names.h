/* SPDX-License-Identifier: Apache-2.0 */
/*
 * split_names.h - what the name and the arguments of a host range say about its cause.
 *
 * Threading: pure functions; the cache belongs to one thread.
 */
#pragma once

#include "base/idmap.h"
#include "derive/classify.h"
#include "model/trace.h"

/* What a range is for the split. */
enum osc_split_class {
    OSC_SPLIT_NOTHING,
    OSC_SPLIT_DATALOADER,
    OSC_SPLIT_OPTIMIZER,
    OSC_SPLIT_SYNC, /* operators from here on */
    OSC_SPLIT_COPY,
    OSC_SPLIT_DOUBLE,
    OSC_SPLIT_SLOW_CONV,
    OSC_SPLIT_OPERATOR,
    OSC_SPLIT_FUNCTION,
    OSC_SPLIT_NOTE, /* a range that the program marked, but for steps */
    OSC_SPLIT_CLASSES
};

enum osc_split_name {
    OSC_SPLIT_IS_SEEN = 1,
    OSC_SPLIT_IS_SYNC = 2,
    OSC_SPLIT_IS_COPY = 4,
    OSC_SPLIT_IS_VIEW = 8,
    OSC_SPLIT_IS_FILL = 512,     /* a copy into a tensor that is there */
    OSC_SPLIT_IS_FOREACH = 16,   /* an operator on lists of tensors, or a fused optimizer */
    OSC_SPLIT_IS_SINGLE = 32,    /* the function of an optimizer that takes one tensor a time */
    OSC_SPLIT_IS_DEFAULT = 64,   /* the function that chooses between these ways */
    OSC_SPLIT_IS_ENGINE = 128,   /* the function that runs the backward pass */
    OSC_SPLIT_IS_BACKWARD = 256, /* an operator that the engine runs: no program calls it */
    OSC_SPLIT_IS_SLOW_CONV = 1024, /* a convolution that unfolds its input */
};

/* Zeroed, it is empty. */
struct osc_split_cache {
    struct osc_idmap names;   /* name -> bits of enum osc_split_name */
    struct osc_idmap doubles; /* types and dimensions of the inputs -> 1: no, 2: yes */
};

static inline bool osc_split_is_operator(enum osc_split_class k)
{
    return k >= OSC_SPLIT_SYNC && k <= OSC_SPLIT_OPERATOR;
}

/* The bits of the name of row I of K. On OSC_ENOMEM *BITS is 0. */
OSC_MUST_USE osc_status osc_split_name_of(struct osc_split_cache *cache,
                                          const struct osc_trace *t, const struct osc_chunk *k,
                                          uint32_t i, uint32_t *bits);

/* The class of row I of K, a finished range of the host. */
OSC_MUST_USE osc_status osc_split_class_of(struct osc_split_cache *cache,
                                           const struct osc_trace *t,
                                           const struct osc_classes *c,
                                           const struct osc_chunk *k, uint32_t i,
                                           enum osc_split_class *class);
void osc_split_cache_fini(struct osc_split_cache *cache);

/*
 * Whether TYPES and DIMS, JSON lists of the types and dimensions of inputs, have a tensor of
 * doubles with at least one dimension: a plain number counts as a double without any.
 */
bool osc_split_has_double(struct osc_str types, struct osc_str dims);

/* NAME without the address of an object at its end, such as " at 0x7f51>": its length. */
struct osc_str osc_split_without_address(struct osc_str name);
