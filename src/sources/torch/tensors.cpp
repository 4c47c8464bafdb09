// SPDX-License-Identifier: Apache-2.0
#include "tensors.h"

#include <algorithm>
#include <cstring>
#include <string>

#include <ATen/core/Tensor.h>

#include "interpreter.h"
#include "opscope/record.h"
#include "storages.h"

namespace osc_torch
{
namespace
{

// The tensor that OBJECT is; undefined if it is none, or of a class of the program.
at::Tensor tensor_of(Object *object)
{
    const char *const name = object ? object->type->name : "";

    if (strcmp(name, "Parameter") != 0 && strcmp(name, "Tensor") != 0)
        return at::Tensor();
    const Held address(py.attribute(object, "_cdata"));
    void *const impl = address.o ? py.pointer(address.o) : nullptr;
    if (!impl) {
        py.clear();
        return at::Tensor();
    }
    return at::Tensor(c10::intrusive_ptr<at::TensorImpl>::unsafe_reclaim_from_nonowning(
        static_cast<at::TensorImpl *>(impl)));
}

// From the first byte of TENSOR, which has memory, to the last one, as torch's own memory
// profiler counts.
int64_t bytes_of(const at::Tensor &tensor)
{
    int64_t n = tensor.dim() == 0;

    if (tensor.layout() != c10::kStrided)
        return 0;
    for (int64_t i = 0; i < tensor.dim(); i++) {
        int64_t own;

        if (__builtin_mul_overflow(tensor.size(i), tensor.stride(i), &own))
            return 0;
        n = std::max(n, own);
    }
    return __builtin_mul_overflow(n, tensor.element_size(), &n) ? 0 : n;
}

// A list as JSON text.
struct List {
    std::string text = "[";

    void add(int64_t number)
    {
        if (text.size() > 1)
            text += ',';
        text += std::to_string(number);
    }
    // Put it as the argument KEY.
    void put(const char *key)
    {
        text += ']';
        const osc_name pair[] = {osc_name_c(key), osc_name_of(text.data(), text.size())};
        osc_args_json(osc_name_of(reinterpret_cast<const char *>(pair), sizeof pair));
    }
};

// The addresses of tensors and their sizes.
struct Numbers {
    List addresses, bytes;
    bool is_any = false;

    void add(const at::Tensor &tensor)
    {
        const int64_t address = storage_of(tensor);

        addresses.add(address);
        bytes.add(address != 0 ? bytes_of(tensor) : 0);
        is_any = true;
    }
    // Put them as the arguments KEY and BYTES_KEY, unless there are none.
    void put(const char *key, const char *bytes_key)
    {
        if (!is_any)
            return;
        addresses.put(key);
        bytes.put(bytes_key);
    }
};

void add_parameter(Numbers *numbers, Object *object)
{
    const at::Tensor parameter = tensor_of(object);

    if (!parameter.defined())
        return;
    numbers->add(parameter);
    numbers->add(parameter.unsafeGetTensorImpl()->grad());
}

// Add those of GROUP, one of the optimizer's `param_groups`.
void add_group(Numbers *numbers, Object *group)
{
    const Held all(py.item(group, "params"));
    const intptr_t n = all.o ? py.length(all.o) : 0;

    for (intptr_t i = 0; i < n; i++)
        add_parameter(numbers, Held(py.element(all.o, i)).o);
    if (n < 0)
        py.clear();
}

// Add the tensors of the dictionary STATE of one parameter.
void add_state(Numbers *numbers, Object *state)
{
    Object *key, *value;

    for (intptr_t at = 0; py.next_of(state, &at, &key, &value);)
        if (const at::Tensor tensor = tensor_of(value); tensor.defined())
            numbers->add(tensor);
}

} // namespace

void put_module(Object *module)
{
    const Kept error;
    const Held all(py.attribute(module, "_parameters"));
    Object *key, *value;
    Numbers numbers;

    for (intptr_t at = 0; all.o && py.next_of(all.o, &at, &key, &value);)
        add_parameter(&numbers, value);
    numbers.put("Parameters", "Parameters bytes");
}

void put_optimizer(Object *optimizer)
{
    const Kept error;
    const Held groups(py.attribute(optimizer, "param_groups"));
    const Held state(py.attribute(optimizer, "state"));
    const intptr_t n = groups.o ? py.length(groups.o) : 0;
    Numbers parameters, kept;
    Object *key, *value;

    for (intptr_t i = 0; i < n; i++)
        add_group(&parameters, Held(py.element(groups.o, i)).o);
    if (n < 0)
        py.clear();
    for (intptr_t at = 0; state.o && py.next_of(state.o, &at, &key, &value);)
        add_state(&kept, value);
    parameters.put("Parameters", "Parameters bytes");
    kept.put("Optimizer state", "Optimizer state bytes");
}

} // namespace osc_torch
