/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sources/source_files.h"
#include "sources/source_kind.h"

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

static void check(char *text, size_t size)
{
    char hook[PATH_MAX];

    if (!osc_find_torch_hook(hook, sizeof hook))
        snprintf(text, size,
                 "this opscope does not belong to the Python package: 'pip "
                 "install .' in the sources builds one that does");
    else if (!has_recorder(hook) && !has_compiler())
        snprintf(text, size,
                 "the package has no recorder for a torch, and there is no C++ "
                 "compiler to build one: install g++ 10 or later, or make the "
                 "wheel where torch is installed");
}

/* The recorder may have yet to be made. */
static const char *remark(void)
{
    char hook[PATH_MAX];

    return osc_find_torch_hook(hook, sizeof hook) && !has_recorder(hook) && has_compiler()
               ? "; its recorder is compiled at first use, in up to a minute"
               : "";
}

const struct osc_source_kind osc_source_kind_torch = {
    .title = "PyTorch",
    .what = "operators of PyTorch in Python programs, with --torch",
    .check = check,
    .remark = remark,
};

const struct osc_source_kind osc_source_kind_torch_variant = {.title = "PyTorch"};
