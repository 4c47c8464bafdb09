/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pattern_names.h - what the names of events mean for the patterns of torch.
 *
 * Threading: pure functions.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* In the order in which torch reports them; the last one is switched off there. */
#define OSC_PATTERN_LIST(X)         \
    X(EXTRA_COPY, extra_copy)       \
    X(FP32_MATMUL, fp32_matmul)     \
    X(SINGLE_TENSOR, single_tensor) \
    X(DATALOADER, dataloader)       \
    X(ZERO_GRAD, zero_grad)         \
    X(CONV_BIAS, conv_bias)         \
    X(UNALIGNED, unaligned)         \
    X(INDEXING, indexing)

enum osc_pattern {
#define OSC_PATTERN_ENUM(name, word) OSC_PATTERN_##name,
    OSC_PATTERN_LIST(OSC_PATTERN_ENUM)
#undef OSC_PATTERN_ENUM
        OSC_PATTERN_COUNT
};

enum osc_pattern_name {
    OSC_PATTERN_NAME_SEEN = 1,       /* the other bits are valid */
    OSC_PATTERN_NAME_TO = 2,         /* aten::to */
    OSC_PATTERN_NAME_TO_COPY = 4,    /* aten::_to_copy */
    OSC_PATTERN_NAME_COPY = 8,       /* aten::copy_ */
    OSC_PATTERN_NAME_FILL = 16,      /* fills a tensor in place */
    OSC_PATTERN_NAME_ZERO = 32,      /* aten::zero_ */
    OSC_PATTERN_NAME_ZEROS = 64,     /* aten::zeros */
    OSC_PATTERN_NAME_SELECT = 128,   /* aten::select */
    OSC_PATTERN_NAME_MM = 256,       /* aten::mm */
    OSC_PATTERN_NAME_MATMUL = 512,   /* a product of matrices, aten::mm among them */
    OSC_PATTERN_NAME_CONV = 1024,    /* aten::conv2d */
    OSC_PATTERN_NAME_SINGLE = 2048,  /* an optimizer that goes tensor by tensor */
    OSC_PATTERN_NAME_ITER = 4096,    /* DataLoader.__iter__ */
    OSC_PATTERN_NAME_GET = 8192,     /* DataLoader._get_iterator */
    OSC_PATTERN_NAME_CHECK = 16384,  /* DataLoader.check_worker_number_rationality */
    OSC_PATTERN_NAME_CLEAR = 32768,  /* a function zero_grad */
    OSC_PATTERN_NAME_MODULE = 65536, /* a module Conv2d */
    OSC_PATTERN_NAME_NORM = 131072,  /* a module BatchNorm2d */
    OSC_PATTERN_NAME_FRAME = 262144, /* file(line): function, outside torch */
};

/* The bits of NAME. */
uint32_t osc_pattern_name(struct osc_str name);

/* A function of Python in the words of torch: file(line): function. */
struct osc_python_frame {
    struct osc_str file, line, function;
};

/* Split NAME; false: it is none. */
bool osc_python_frame_split(struct osc_str name, struct osc_python_frame *frame);

/* Whether FRAME is not torch's. */
bool osc_python_frame_is_outside(const struct osc_python_frame *frame);
