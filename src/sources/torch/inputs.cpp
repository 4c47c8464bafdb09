// SPDX-License-Identifier: Apache-2.0
#include "inputs.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sstream>

#include <ATen/core/Tensor.h>
#include <c10/core/ScalarType.h>

#include "input_hash.h"
#include "text.h"

namespace
{

using osc_torch::has_sizes;
using osc_torch::is_scalar_list;
using osc_torch::kTensorsMax;
using osc_torch::Text;

// As torch prints it in `Concrete Inputs`.
void add_scalar(Text *out, const c10::IValue &v)
{
    char digits[40];

    if (v.isInt()) {
        out->add(v.toInt());
    } else if (v.isBool()) {
        out->add(v.toBool() ? "True" : "False");
    } else if (v.isDouble()) {
        const double d = v.toDouble();
        // torch prints a number as whole if a long can hold it, also negative zero
        if (std::fabs(d) < 9.2e18 && d == std::trunc(d))
            snprintf(digits, sizeof digits, "%lld.", static_cast<long long>(d));
        else
            snprintf(digits, sizeof digits, "%.17g", d);
        out->add(digits);
    } else { // complex or symbolic
        std::ostringstream text;

        text << v;
        for (const char c : text.str())
            if (c != '"' && c != '\\' && static_cast<unsigned char>(c) >= 0x20)
                out->add(&c, 1);
    }
}

void add_sizes(Text *dims, Text *strides, const at::Tensor &t)
{
    if (!has_sizes(t)) {
        dims->add("[]");
        strides->add("[]");
        return;
    }
    dims->add(t.sizes());
    strides->add(t.layout() == c10::kStrided ? t.strides() : c10::IntArrayRef());
}

void add_type(Text *types, const at::Tensor &t)
{
    if (has_sizes(t)) {
        const auto name = c10::scalarTypeToTypeMeta(t.scalar_type()).name();
        types->add(name.data(), name.size());
    }
}

void add_tensors(Text *dims, Text *strides, const c10::IValue &v)
{
    const auto list = v.toListRef();

    dims->add("[", 1);
    strides->add("[", 1);
    for (size_t i = 0; i < list.size() && list.size() <= kTensorsMax; i++) {
        if (i > 0) {
            dims->add(",", 1);
            strides->add(",", 1);
        }
        add_sizes(dims, strides, list[i].toTensor());
    }
    dims->add("]", 1);
    strides->add("]", 1);
}

void add_scalars(Text *concrete, const c10::IValue &v)
{
    const auto list = v.toListRef();

    concrete->add("[", 1);
    for (size_t i = 0; i < list.size(); i++) {
        if (i > 0)
            concrete->add(", ", 2);
        add_scalar(concrete, list[i]);
    }
    concrete->add("]", 1);
}

void add_input(Text *dims, Text *strides, Text *types, Text *concrete, const c10::IValue &v)
{
    if (v.isTensor()) {
        add_sizes(dims, strides, v.toTensor());
        add_type(types, v.toTensor());
        return;
    }
    if (v.isTensorList()) {
        add_tensors(dims, strides, v);
        types->add("TensorList");
        return;
    }
    dims->add("[]");
    strides->add("[]");
    if (v.isScalar()) {
        types->add("Scalar");
        add_scalar(concrete, v);
    } else if (is_scalar_list(v)) {
        types->add("ScalarList");
        add_scalars(concrete, v);
    }
}

} // namespace

osc_torch::Told osc_torch::tell(char *room, size_t bytes,
                                c10::ArrayRef<const c10::IValue> inputs)
{
    Text dims(room, bytes), strides(room + bytes, bytes), types(room + 2 * bytes, bytes),
        concrete(room + 3 * bytes, bytes);
    const char *comma = "", *quotes = "\"";

    for (Text *text : {&dims, &strides, &types, &concrete})
        text->add("[", 1);
    for (const c10::IValue &v : inputs) {
        dims.add(comma);
        strides.add(comma);
        types.add(quotes);
        concrete.add(quotes);
        comma = ",";
        quotes = "\",\"";
        add_input(&dims, &strides, &types, &concrete, v);
    }
    for (Text *text : {&dims, &strides})
        text->add("]", 1);
    for (Text *text : {&types, &concrete})
        text->add("\"]", 2);
    return Told{{dims.begin, dims.size()},
                {strides.begin, strides.size()},
                {types.begin, types.size()},
                {concrete.begin, concrete.size()},
                std::max({dims.size(), strides.size(), types.size(), concrete.size()}),
                dims.is_cut || strides.is_cut || types.is_cut || concrete.is_cut};
}
