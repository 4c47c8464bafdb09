// SPDX-License-Identifier: Apache-2.0
#include "enabled.h"

#include <iterator>

#include <torch/csrc/profiler/orchestration/observer.h>

#include "hooks.h"
#include "memory.h"
#include "opscope/record.h"
#include "recorder.h"

namespace
{

using torch::profiler::impl::ProfilerConfig;
using torch::profiler::impl::ProfilerState;

bool (*torch_enabled)();
ProfilerConfig (*torch_config)();

bool on_enabled()
{
    return torch_enabled() || osc_torch::wants_shapes();
}

ProfilerConfig on_config()
{
    ProfilerConfig config =
        torch_enabled() ? torch_config() : ProfilerConfig(ProfilerState::KINETO);

    config.report_input_shapes |= osc_torch::wants_shapes();
    return config;
}

osc_torch::Hook hooks[] = {
    {"libtorch_python.so", "_ZN5torch8profiler4impl15profilerEnabledEv",
     reinterpret_cast<void *>(on_enabled), reinterpret_cast<void **>(&torch_enabled), false},
    {"libtorch_python.so", "_ZN5torch8profiler4impl17getProfilerConfigEv",
     reinterpret_cast<void *>(on_config), reinterpret_cast<void **>(&torch_config), false},
};

} // namespace

void osc_torch::answer_for_torch()
{
    static osc_torch::Seen seen;
    static const bool is_done = osc_torch::redirect(hooks, std::size(hooks), &seen);

    (void)is_done;
}

int osc_torch_is_recorded(void)
{
    return osc_is_on() && osc_torch::is_recorded(false);
}
