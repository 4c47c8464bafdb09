/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "sources/source_files.h"
#include "sources/source_kind.h"

/* A program may bring CUPTI with it, but no driver. */
static const char *lack(void)
{
    char why[256];

    return osc_is_loadable("libcuda.so.1", why, sizeof why)
               ? NULL
               : "there is no driver (libcuda.so.1): install NVIDIA's";
}

static void check(char *text, size_t size)
{
    static const char *const names[] = {
        "libcupti.so.13",   "libcupti.so.12",   "libcupti.so.11.8", "libcupti.so.11.7",
        "libcupti.so.11.6", "libcupti.so.11.5", "libcupti.so.11.4", "libcupti.so.11.3",
        "libcupti.so.11.2", "libcupti.so.11.1", "libcupti.so"};

    if (!osc_is_one_loadable(names, sizeof names / sizeof *names))
        snprintf(text, size,
                 "the loader finds no libcupti.so: programs that bring theirs, "
                 "such as PyTorch, are recorded; for others install CUDA's, and "
                 "name its folder in LD_LIBRARY_PATH");
}

const struct osc_source_kind osc_source_kind_cuda = {
    .title = "CUDA",
    .what = "calls, kernels, copies and memory of CUDA, by CUPTI",
    .variable = "CUDA_INJECTION64_PATH",
    .unused = "nothing used CUDA, or the program changed CUDA_INJECTION64_PATH",
    .lack = lack,
    .check = check,
};
