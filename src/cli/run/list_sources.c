/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/list_sources.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "cli/cli.h"
#include "cli/run/source_files.h"
#include "cli/show.h"

struct line {
    const char *name, *what;      /* its word in --sources; what it records */
    char missing[PATH_MAX + 512]; /* what is missing, and how to get it; "": nothing */
};

/* Note in L why the collector cannot be used, if so. */
static void check_collector(struct line *l)
{
    char path[PATH_MAX], why[256];

    if (!osc_find_collector(path, sizeof path))
        (void)snprintf(l->missing, sizeof l->missing,
                       OSC_COLLECTOR " is neither beside opscope nor installed: install all of "
                                     "opscope, or run it from its build directory");
    else if (!osc_is_loadable(path, why, sizeof why))
        (void)snprintf(l->missing, sizeof l->missing, "%s cannot be loaded: %s", path, why);
}

/* The same if VARIABLE names the library of another tool. */
static void check_variable(struct line *l, const char *variable)
{
    const char *const other = getenv(variable);

    char ours[PATH_MAX];

    if (l->missing[0] == '\0' && other && *other &&
        !(osc_find_collector(ours, sizeof ours) && strcmp(other, ours) == 0))
        (void)snprintf(l->missing, sizeof l->missing,
                       "%s is set to %s: unset it, or use --force", variable, other);
}

static void check_torch(struct line *l)
{
    char path[PATH_MAX];

    if (!osc_find_torch_hook(path, sizeof path))
        (void)snprintf(l->missing, sizeof l->missing,
                       "this opscope does not belong to the Python package: 'pip install .' in "
                       "the sources builds one that does");
}

#if OSC_WITH_OPENCL
/* How many drivers of OpenCL the loader finds. */
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

static void check_opencl(struct line *l)
{
    char why[256];

    check_collector(l);
    if (l->missing[0] != '\0')
        return;
    if (!osc_is_loadable("libOpenCL.so.1", why, sizeof why))
        (void)snprintf(l->missing, sizeof l->missing,
                       "there is no loader (libOpenCL.so.1): on Debian install "
                       "ocl-icd-libopencl1");
    else if (count_drivers() == 0)
        (void)snprintf(
            l->missing, sizeof l->missing,
            "there is no driver in /etc/OpenCL/vendors: install that of your device, or "
            "on Debian pocl-opencl-icd, which runs on the processor");
}
#endif

int osc_list_sources(void)
{
    static struct line lines[] = {
        {.name = "api", .what = "calls of libopscope, in programs that are linked with it"},
        {.name = "itt", .what = "tasks of ITT: PyTorch's emit_itt(), oneDNN, oneTBB, OpenVINO"},
        {.name = "nvtx", .what = "ranges and marks of NVTX 3"},
        {.name = "torch", .what = "operators of PyTorch in Python programs, with --torch"},
#if OSC_WITH_OPENCL
        {.name = "opencl", .what = "calls, kernels, copies and memory of OpenCL"},
#endif
    };
    struct osc_strbuf out = {0};

    check_collector(&lines[1]);
    check_variable(&lines[1], "INTEL_LIBITTNOTIFY64");
    check_collector(&lines[2]);
    check_variable(&lines[2], "NVTX_INJECTION64_PATH");
    check_torch(&lines[3]);
#if OSC_WITH_OPENCL
    check_opencl(&lines[4]);
#endif
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        const struct line *const l = &lines[i];
        const bool is_there = l->missing[0] == '\0';

        osc_strbuf_addf(&out, "%-7s %-8s %s\n", l->name, is_there ? "ready" : "missing",
                        is_there ? l->what : l->missing);
    }
#if !OSC_WITH_OPENCL
    osc_strbuf_adds(&out,
                    "opencl  missing  this opscope was built without the headers of OpenCL: "
                    "on Debian install opencl-headers, and build again\n");
#endif
    const int failed = out.status == OSC_OK ? osc_show_text(out.s)
                                            : osc_cli_fail(out.status, &(struct osc_err){0});
    osc_strbuf_fini(&out);
    return failed;
}
