/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cupti_names.h - the recorder's names of kernels, and of arguments that occur together.
 *
 * Records name kernels by the mangled symbol. As in Kineto's traces, names are those of C++,
 * if a C++ library that can tell them is in the process; else the symbol stays as it is.
 *
 * Threading: thread-safe, without locks once a name is known.
 */
#pragma once

#include "opscope/record.h"
#include "sources/cuda/cupti_occupancy.h"

/* The name of the kernel SYMBOL, which may be NULL. */
osc_name osc_cupti_kernel_name(const char *symbol);

/* What is the same in all launches of a kernel from one place, or of a copy. */
struct osc_cupti_place {
    struct osc_cupti_launch launch; /* zeros: no kernel */
    uint32_t device, context, stream;
    uint32_t from_device, to_device; /* from 1 on; 0: none */
    uint32_t graph;                  /* 0: none */
    uint64_t graph_node;
};

/* Add the arguments that PLACE stands for to the record that was made last. */
void osc_cupti_add_place(const struct osc_cupti_place *place);
