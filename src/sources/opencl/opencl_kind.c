/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sources/source_files.h"
#include "sources/source_kind.h"

#define LOADER "libOpenCL.so.1"
#define LAYERS "OPENCL_LAYERS" /* libraries that the loader puts before drivers */

/* The loader has no layers, or there is none. Without one programs may be linked with a driver,
 * but hardly any is. */
static bool is_preloaded(bool is_named)
{
    char why[256];

    return osc_library_lacks(LOADER, LAYERS) ||
           (is_named && !osc_is_loadable(LOADER, why, sizeof why));
}

/* How many drivers the loader finds. */
static unsigned count_drivers(void)
{
    const char *const said = getenv("OCL_ICD_VENDORS");
    const char *const folder = said && *said ? said : "/etc/OpenCL/vendors";
    DIR *const dir = opendir(folder);
    unsigned n = said && *said && !dir; /* a driver by its name */

    for (const struct dirent *e; dir && (e = readdir(dir));) {
        const size_t len = strlen(e->d_name);

        n += len > 4 && strcmp(e->d_name + len - 4, ".icd") == 0;
    }
    if (dir)
        closedir(dir);
    return n;
}

static void check(char *text, size_t size)
{
    char why[256];

    if (!osc_is_loadable(LOADER, why, sizeof why))
        snprintf(text, size,
                 "there is no loader (" LOADER "): on Debian install "
                 "ocl-icd-libopencl1, or name opencl in --sources if programs "
                 "are linked with a driver");
    else if (count_drivers() == 0)
        snprintf(text, size,
                 "there is no driver in /etc/OpenCL/vendors: install that of "
                 "your device, or on Debian pocl-opencl-icd, which runs on the "
                 "processor");
}

const struct osc_source_kind osc_source_kind_opencl = {
    .title = "OpenCL",
    .what = "calls, kernels, copies and memory of OpenCL",
#if !OSC_WITH_OPENCL
    .missing = "this opscope was built without the headers of OpenCL: on Debian install "
               "opencl-headers, and build again",
#endif
    .variable = LAYERS,
    .is_list = true,
    .is_preloaded = is_preloaded,
    .unused =
        "nothing used OpenCL, the program changed " LAYERS ", it called a driver without a "
        "loader, or it looked up functions of a loader without layers by dlsym()",
    .check = check,
};
