// SPDX-License-Identifier: Apache-2.0
#include "tensors.h"

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

// A list as JSON text.
struct Numbers {
    std::string text = "[";

    void add(const at::Tensor &tensor)
    {
        if (text.size() > 1)
            text += ',';
        text += std::to_string(storage_of(tensor));
    }
    // Put them as the argument KEY, unless there are none.
    void put(const char *key)
    {
        if (text.size() == 1)
            return;
        text += ']';
        const osc_name pair[] = {osc_name_c(key), osc_name_of(text.data(), text.size())};
        osc_args_json(osc_name_of(reinterpret_cast<const char *>(pair), sizeof pair));
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
    numbers.put("Parameters");
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
    parameters.put("Parameters");
    kept.put("Optimizer state");
}

} // namespace osc_torch
