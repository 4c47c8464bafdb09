// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <string_view>
#include <vector>

#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <ATen/record_function.h>

#include "enabled.h"
#include "opscope/record.h"
#include "python.h"
#include "recorder.h"

namespace
{

at::Tensor tensor_of(const struct osc_torch_value &v)
{
    return at::Tensor(c10::intrusive_ptr<at::TensorImpl>::unsafe_reclaim_from_nonowning(
        static_cast<at::TensorImpl *>(v.tensor)));
}

template <class T, class F>
c10::IValue list_of(const struct osc_torch_value *v, size_t n, const F &convert)
{
    c10::List<T> list;

    for (size_t i = 0; i < n; i++)
        list.push_back(convert(v[i]));
    return list;
}

// The list of the N values at V, which have the kind of the first one.
c10::IValue list_at(const struct osc_torch_value *v, size_t n)
{
    using Value = struct osc_torch_value;

    switch (v->kind) {
    case OSC_TORCH_TENSOR:
        return list_of<at::Tensor>(v, n, tensor_of);
    case OSC_TORCH_INT:
        return list_of<int64_t>(v, n, [](const Value &x) { return x.number; });
    case OSC_TORCH_BOOL:
        return list_of<bool>(v, n, [](const Value &x) { return x.number != 0; });
    case OSC_TORCH_FLOAT:
        return list_of<double>(v, n, [](const Value &x) { return x.real; });
    case OSC_TORCH_COMPLEX:
        return list_of<c10::complex<double>>(
            v, n, [](const Value &x) { return c10::complex<double>(x.real, x.imaginary); });
    }
    return {};
}

c10::IValue value_of(const struct osc_torch_value &v)
{
    switch (v.kind) {
    case OSC_TORCH_TENSOR:
        return tensor_of(v);
    case OSC_TORCH_INT:
        return v.number;
    case OSC_TORCH_BOOL:
        return v.number != 0;
    case OSC_TORCH_FLOAT:
        return v.real;
    case OSC_TORCH_COMPLEX:
        return c10::complex<double>(v.real, v.imaginary);
    }
    return {};
}

std::vector<c10::IValue> inputs_of(const struct osc_torch_value *values, size_t n)
{
    std::vector<c10::IValue> inputs;

    for (size_t i = 0; i < n; i++) {
        if (values[i].kind != OSC_TORCH_LIST) {
            inputs.push_back(value_of(values[i]));
            continue;
        }
        const size_t n_items = static_cast<size_t>(values[i].number);
        inputs.push_back(list_at(&values[i + 1], n_items));
        i += n_items;
    }
    return inputs;
}

// Record K as an argument of the innermost range.
void put_keyword(const struct osc_torch_keyword &k)
{
    const osc_name key = osc_name_of(k.key, strlen(k.key));

    switch (k.value.kind) {
    case OSC_TORCH_INT:
        return osc_arg_i64(key, k.value.number);
    case OSC_TORCH_BOOL:
        return osc_arg_bool(key, k.value.number != 0);
    case OSC_TORCH_FLOAT:
        return osc_arg_f64(key, k.value.real);
    case OSC_TORCH_LIST:
        return osc_arg_json(key, k.text, strlen(k.text));
    default:
        return osc_arg_text(key, k.text, strlen(k.text));
    }
}

} // namespace

extern "C" {

int osc_torch_wants_inputs(void)
{
    return osc_torch::wants_shapes();
}

void *osc_torch_range_open(const char *name, int is_annotation,
                           const struct osc_torch_value *values, size_t n,
                           const struct osc_torch_keyword *keywords, size_t n_keywords)
{
    auto *range = new at::RecordFunction(is_annotation ? at::RecordScope::USER_SCOPE
                                                       : at::RecordScope::FUNCTION);

    if (!range->isActive()) {
        delete range;
        return nullptr;
    }
    const std::vector<c10::IValue> inputs = inputs_of(values, n);
    range->before(name, &inputs);
    if (n_keywords > 0 && osc_torch::is_innermost(range))
        for (size_t i = 0; i < n_keywords; i++)
            put_keyword(keywords[i]);
    return range;
}

void osc_torch_range_close(void *range)
{
    delete static_cast<at::RecordFunction *>(range);
}
}
