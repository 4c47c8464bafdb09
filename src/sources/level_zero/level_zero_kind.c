/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sources/source_files.h"
#include "sources/source_kind.h"

#define LOADER  "libze_loader.so.1"
#define TRACING "ZE_ENABLE_TRACING_LAYER" /* 1: the loader lets calls be traced */

/* Nothing loads the collector by a variable: it stands before the loader's zeInit(). */
static bool is_preloaded(bool is_named)
{
    (void)is_named;
    return true;
}

static bool is_switched_off(void)
{
    const char *const tracing = getenv(TRACING);

    return tracing && strcmp(tracing, "0") == 0;
}

/* Where the user does not want it, or nothing uses it, the collector should not be loaded into
 * every program. A program for Intel's extension of PyTorch may bring a loader. */
static bool is_left_out(void)
{
    const char *const ipex = getenv("IPEX_ZE_TRACING");
    char why[256];

    if (is_switched_off())
        return true;
    return !(ipex && strcmp(ipex, "1") == 0) && !osc_is_loadable(LOADER, why, sizeof why);
}

static void check(char *text, size_t size)
{
    char why[256];

    if (is_switched_off())
        snprintf(text, size, TRACING " is 0: unset it, or name level-zero in --sources");
    else if (!osc_is_loadable(LOADER, why, sizeof why))
        snprintf(text, size,
                 "there is no loader (" LOADER "): on Debian install libze1, or "
                 "name level-zero in --sources if programs bring their own");
    else if (!osc_is_loadable("libze_tracing_layer.so.1", why, sizeof why))
        snprintf(text, size, "the layer that traces calls cannot be loaded: %s", why);
}

const struct osc_source_kind osc_source_kind_level_zero = {
    .title = "Level Zero",
    .what = "calls, kernels, copies and memory of Level Zero",
#if !OSC_WITH_LEVEL_ZERO
    .missing = "this opscope was built without the headers of Level Zero: on Debian install "
               "libze-dev, and build again",
#endif
    .is_preloaded = is_preloaded,
    .switch_variable = TRACING,
    .is_left_out = is_left_out,
    .unused = "nothing called zeInit() of a loader that it is linked with, or the program "
              "changed LD_PRELOAD",
    .check = check,
};
