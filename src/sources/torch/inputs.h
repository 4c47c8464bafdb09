/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inputs.h - the inputs of a call as text, in the form that torch.profiler writes.
 *
 * Called rarely: inputs that were seen before have a name (hash.h).
 *
 * Threading: thread-safe.
 */
#pragma once

#include <cstddef>
#include <string_view>

#include <ATen/core/ivalue.h>

namespace osc_torch
{

/* JSON texts, each a list with one item per input. */
struct Told {
    std::string_view dims, strides, types, concrete;
    size_t longest; /* bytes */
    bool is_cut;    /* some text did not fit, and the texts are not valid JSON */
};

/* Describe INPUTS. The texts are written to ROOM, which has 4 * BYTES, and the result points
 * there. */
Told tell(char *room, size_t bytes, c10::ArrayRef<const c10::IValue> inputs);

} // namespace osc_torch
