/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shapes.h - parse `Input Dims` and `Concrete Inputs`.
 *
 * Both are JSON lists with an element per input of an operator: its sizes ([4, 3, 64, 64]; []
 * if it is not a tensor; a list of sizes for a list of tensors), and its value as a text ("[2,
 * 2]", "1", "").
 *
 *   - White space does not matter. Text that is not JSON is read as far as possible, and
 *     never beyond its end.
 *
 * Threading: pure functions.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "base/strbuf.h"

#define OSC_SHAPE_DIMS_MAX 64

struct osc_shape {
    uint32_t n_dims;
    int64_t dims[OSC_SHAPE_DIMS_MAX];
};

/*
 * Append DIMS as Python prints it, each list of tensors as []. Anything but a list gives "[]".
 */
void osc_shapes_text(struct osc_str dims, struct osc_strbuf *out);

/*
 * The integers of element INDEX of the list LIST: a list of integers, a string with one, or a
 * single integer. False if it is anything else, or missing.
 */
bool osc_shapes_element(struct osc_str list, uint32_t index, struct osc_shape *shape);
