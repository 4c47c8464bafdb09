// SPDX-License-Identifier: Apache-2.0
#include <string_view>

#include <ATen/record_function.h>

#include "recorder.h"

extern "C" {

void *osc_torch_range_open(const char *name, int is_annotation)
{
    auto *range = new at::RecordFunction(is_annotation ? at::RecordScope::USER_SCOPE
                                                       : at::RecordScope::FUNCTION);

    if (!range->isActive()) {
        delete range;
        return nullptr;
    }
    range->before(at::RecordFunction::FunctionDescriptor(std::string_view(name)));
    return range;
}

void osc_torch_range_close(void *range)
{
    delete static_cast<at::RecordFunction *>(range);
}
}
