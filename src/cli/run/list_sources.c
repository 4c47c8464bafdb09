/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/list_sources.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "cli/cli.h"
#include "cli/run/source_files.h"
#include "cli/show.h"
#include "cli/source_kinds.h"

/* Each function adds to MISSING what its source lacks, and how to get it; or nothing. */

static void check_collector(struct osc_strbuf *missing)
{
    char path[PATH_MAX], why[256];

    if (!osc_find_collector(path, sizeof path))
        osc_strbuf_adds(missing, OSC_COLLECTOR
                        " is neither beside opscope nor installed: install all of opscope, or "
                        "run it from its build directory");
    else if (!osc_is_loadable(path, why, sizeof why))
        osc_strbuf_addf(missing, "%s cannot be loaded: %s", path, why);
}

/* VARIABLE may name the library of another tool. */
static void check_variable(struct osc_strbuf *missing, const char *variable)
{
    const char *const other = getenv(variable);
    char ours[PATH_MAX];

    if (other && *other && !(osc_find_collector(ours, sizeof ours) && strcmp(other, ours) == 0))
        osc_strbuf_addf(missing, "%s is set to %s: unset it, or use --force", variable, other);
}

/* Whether the folder whose path LEN characters of PATH are, or would be, has a library. */
static bool has_library(const char *path, int len)
{
    DIR *const dir = len > 0 && len < PATH_MAX ? opendir(path) : NULL;
    bool is_any = false;

    for (const struct dirent *e; dir && (e = readdir(dir));)
        is_any = is_any || strstr(e->d_name, ".so");
    if (dir)
        closedir(dir);
    return is_any;
}

/* Whether there is a recorder for some torch: in the package whose hook is at HOOK, or where
 * python/opscope/torch/build.py keeps those that it has made. */
static bool has_recorder(const char *hook)
{
    const char *const cache = getenv("XDG_CACHE_HOME"), *const home = getenv("HOME");
    const char *const scratch = getenv("TMPDIR");
    const bool has_cache = cache && *cache;
    char path[PATH_MAX];

    return has_library(path, snprintf(path, sizeof path, "%s/../recorders", hook)) ||
           has_library(path, snprintf(path, sizeof path, "%s%s/opscope",
                                      has_cache ? cache
                                      : home    ? home
                                                : "",
                                      has_cache ? "" : "/.cache")) ||
           has_library(path,
                       snprintf(path, sizeof path, "%s/opscope-%u",
                                scratch && *scratch ? scratch : "/tmp", (unsigned)getuid()));
}

/* Whether there is a C++ compiler where python/opscope/torch/target.py looks for one. */
static bool has_compiler(void)
{
    const char *const names[] = {getenv("CXX"), "c++", "g++", "clang++"};
    char path[PATH_MAX];

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (names[i] && *names[i] && osc_find_program(names[i], path, sizeof path))
            return true;
    }
    return false;
}

/* Whether the recorder for torch has yet to be made. */
static bool is_torch_compiled_later(void)
{
    char hook[PATH_MAX];

    return osc_find_torch_hook(hook, sizeof hook) && !has_recorder(hook) && has_compiler();
}

static void check_torch(struct osc_strbuf *missing)
{
    char hook[PATH_MAX];

    if (!osc_find_torch_hook(hook, sizeof hook))
        osc_strbuf_adds(
            missing, "this opscope does not belong to the Python package: 'pip install .' in "
                     "the sources builds one that does");
    else if (!has_recorder(hook) && !has_compiler())
        osc_strbuf_adds(
            missing, "the package has no recorder for a torch, and there is no C++ compiler to "
                     "build one: install g++ 10 or later, or make the wheel where torch is "
                     "installed");
}

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

static void check_opencl(struct osc_strbuf *missing)
{
    char why[256];

    if (!osc_is_loadable("libOpenCL.so.1", why, sizeof why))
        osc_strbuf_adds(missing, "there is no loader (libOpenCL.so.1): on Debian install "
                                 "ocl-icd-libopencl1, or name opencl in --sources if "
                                 "programs are linked with a driver");
    else if (count_drivers() == 0)
        osc_strbuf_adds(missing,
                        "there is no driver in /etc/OpenCL/vendors: install that of your "
                        "device, or on Debian pocl-opencl-icd, which runs on the processor");
}

static void check_level_zero(struct osc_strbuf *missing)
{
    const char *const tracing = getenv("ZE_ENABLE_TRACING_LAYER");
    char why[256];

    if (tracing && strcmp(tracing, "0") == 0) {
        osc_strbuf_adds(missing,
                        "ZE_ENABLE_TRACING_LAYER is 0: unset it, or name level-zero in "
                        "--sources");
        return;
    }

    if (!osc_is_loadable("libze_loader.so.1", why, sizeof why))
        osc_strbuf_adds(missing, "there is no loader (libze_loader.so.1): on Debian install "
                                 "libze1, or name level-zero in --sources if programs bring "
                                 "their own");
    else if (!osc_is_loadable("libze_tracing_layer.so.1", why, sizeof why))
        osc_strbuf_addf(missing, "the layer that traces calls cannot be loaded: %s", why);
}

const char *osc_source_lack(const struct osc_source_kind *kind)
{
    char why[256];

    return kind->bit == OSC_SOURCE_CUDA && !osc_is_loadable("libcuda.so.1", why, sizeof why)
               ? "there is no driver (libcuda.so.1): install NVIDIA's"
               : NULL;
}

static void check_cuda(const struct osc_source_kind *kind, struct osc_strbuf *missing)
{
    static const char *const names[] = {
        "libcupti.so.13",   "libcupti.so.12",   "libcupti.so.11.8", "libcupti.so.11.7",
        "libcupti.so.11.6", "libcupti.so.11.5", "libcupti.so.11.4", "libcupti.so.11.3",
        "libcupti.so.11.2", "libcupti.so.11.1", "libcupti.so"};
    const char *const lack = osc_source_lack(kind);

    if (lack)
        osc_strbuf_adds(missing, lack);
    else if (!osc_is_one_loadable(names, sizeof names / sizeof *names))
        osc_strbuf_adds(missing,
                        "the loader finds no libcupti.so: programs that bring theirs, such "
                        "as PyTorch, are recorded; for others install CUDA's, and name its "
                        "folder in LD_LIBRARY_PATH");
}

static void check(const struct osc_source_kind *kind, struct osc_strbuf *missing)
{
    const char *const all = getenv("OPSCOPE");

    if (all && strcmp(all, "0") == 0)
        osc_strbuf_adds(missing, "OPSCOPE is 0, which switches all recording off: unset it");
    else if (kind->missing)
        osc_strbuf_adds(missing, kind->missing);
    else if (kind->is_collected)
        check_collector(missing);
    if (missing->len == 0 && kind->variable && !kind->is_list)
        check_variable(missing, kind->variable);
    if (missing->len == 0 && kind->bit == OSC_SOURCE_OPENCL)
        check_opencl(missing);
    if (missing->len == 0 && kind->bit == OSC_SOURCE_LEVEL_ZERO)
        check_level_zero(missing);
    if (missing->len == 0 && kind->bit == OSC_SOURCE_CUDA)
        check_cuda(kind, missing);
    if (kind->bit == OSC_SOURCE_TORCH)
        check_torch(missing);
}

int osc_list_sources(void)
{
    struct osc_strbuf out = {0};

    for (size_t i = 0; i < OSC_SOURCE_COUNT; i++) {
        const struct osc_source_kind *const kind = &osc_source_kinds[i];
        struct osc_strbuf missing = {0};

        if (!kind->what)
            continue;
        check(kind, &missing);
        const bool is_ready = missing.status == OSC_OK && missing.len == 0;
        osc_strbuf_addf(&out, "%-10s %-8s %s%s\n", kind->word, is_ready ? "ready" : "missing",
                        is_ready                   ? kind->what
                        : missing.status == OSC_OK ? missing.s
                                                   : "out of memory",
                        is_ready && kind->bit == OSC_SOURCE_TORCH && is_torch_compiled_later()
                            ? "; its recorder is compiled at first use, in up to a minute"
                            : "");
        osc_strbuf_fini(&missing);
    }
    const int failed = out.status == OSC_OK ? osc_show_text(out.s)
                                            : osc_cli_fail(out.status, &(struct osc_err){0});
    osc_strbuf_fini(&out);
    return failed;
}
