/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flops.h - torch's estimate of the work of an operator.
 *
 * Seven operators have one; a multiplication and its addition count as two. Bias, broadcasting
 * and everything else count nothing, as in torch.
 *
 * Threading: pure functions.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

enum osc_flops_rule {
    OSC_FLOPS_NONE,
    OSC_FLOPS_MM,
    OSC_FLOPS_ADDMM,
    OSC_FLOPS_BMM,
    OSC_FLOPS_BADDBMM,
    OSC_FLOPS_CONV2D,
    OSC_FLOPS_ELEMENTWISE,
    OSC_FLOPS_RULES
};

/* The rule of the operator NAME. */
enum osc_flops_rule osc_flops_rule(struct osc_str name);

/* Whether RULE needs the argument `Input type` of a call, instead of `Concrete Inputs`. */
bool osc_flops_reads_types(enum osc_flops_rule rule);

/*
 * Operations of one call by RULE, from its `Input Dims` and the other argument that RULE needs;
 * 0 if they are missing. Wraps at 2^64, as in torch.
 */
uint64_t osc_flops(enum osc_flops_rule rule, struct osc_str dims, struct osc_str inputs);
