/* SPDX-License-Identifier: Apache-2.0 */
#include "sources/source_files.h"
#include "sources/source_kind.h"

/* AMD's ROCTx has no variable: the collector stands before its functions, if it is installed.
 */
static bool is_preloaded(bool is_named)
{
    static const char *const roctx[] = {"libroctx64.so.4", "librocprofiler-sdk-roctx.so.1",
                                        "librocprofiler-sdk-roctx.so.0"};

    (void)is_named;
    return osc_is_one_loadable(roctx, sizeof roctx / sizeof *roctx);
}

const struct osc_source_kind osc_source_kind_nvtx = {
    .title = "NVTX",
    .what = "ranges and marks of NVTX 3",
    .variable = "NVTX_INJECTION64_PATH",
    .is_preloaded = is_preloaded,
    .unused = "nothing called NVTX 3, or the program changed NVTX_INJECTION64_PATH",
};
