/* SPDX-License-Identifier: Apache-2.0 */
#include "sources/source_kind.h"

const struct osc_source_kind osc_source_kind_itt = {
    .title = "ITT",
    .what = "tasks of ITT: PyTorch's emit_itt(), oneDNN, oneTBB, OpenVINO",
    .variable = "INTEL_LIBITTNOTIFY64",
    .yields_to_torch = true,
    .unused = "nothing called ITT, or the program changed INTEL_LIBITTNOTIFY64",
};
