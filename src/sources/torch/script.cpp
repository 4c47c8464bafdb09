// SPDX-License-Identifier: Apache-2.0
#include "script.h"

#include <string>
#include <vector>

#include <torch/csrc/jit/runtime/interpreter.h>
#include <torch/csrc/profiler/util.h>

namespace osc_torch
{
namespace
{

// PARTS, each followed by END, as one name; 0: there are none.
osc_name name_of_parts(const std::vector<std::string> &parts, char end)
{
    std::string text;

    for (const std::string &part : parts) {
        text += part;
        text += end;
    }
    return parts.empty() ? 0 : osc_name_of(text.data(), text.size());
}

} // namespace

osc_name script_stack()
{
    const auto stack = torch::jit::currentCallstack();

    if (stack.empty())
        return 0;
    return name_of_parts(
        torch::profiler::impl::callstackStr(torch::profiler::impl::prepareCallstack(stack)),
        ';');
}

osc_name script_modules()
{
    return name_of_parts(torch::jit::currentModuleHierarchy(), '.');
}

} // namespace osc_torch
