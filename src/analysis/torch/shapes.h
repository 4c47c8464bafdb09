/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shapes.h - what `Input Dims` and `Concrete Inputs` say.
 *
 * Both are JSON lists with an element per input of an operator: its sizes
 * ([4, 3, 64, 64]; [] for what is no tensor; a list of sizes for a list of
 * tensors), and its value as a text ("[2, 2]", "1", "").
 *
 *   - The text is read as it stands in the file, whatever its blanks. What is not
 *     JSON reads as far as it goes and never beyond.
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
 * Append DIMS as Python prints it, each list of tensors as []. What is no list gives "[]".
 */
void osc_shapes_text(struct osc_str dims, struct osc_strbuf *out);

/*
 * The integers of element INDEX of the list LIST, which is a list of integers or a
 * string that holds one, or one integer alone. False if it is anything else, or
 * not there.
 */
bool osc_shapes_element(struct osc_str list, uint32_t index, struct osc_shape *shape);
