/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inputs.h - the inputs of a call in words, as torch.profiler writes them.
 *
 * Made for few calls: who has seen the same inputs before has a name for them (hash.h).
 *
 * Threading: thread-safe.
 */
#pragma once

#include <cstddef>
#include <string_view>

#include <ATen/core/ivalue.h>

namespace osc_torch
{

/* JSON texts, each a list with one item an input. */
struct Told {
    std::string_view dims, strides, types, concrete;
    size_t longest; /* bytes */
    bool is_cut;    /* there was no room for some of it: no text is JSON */
};

/* All that is told of INPUTS, in the four times BYTES from ROOM on, which it points into. */
Told tell(char *room, size_t bytes, c10::ArrayRef<const c10::IValue> inputs);

} // namespace osc_torch
