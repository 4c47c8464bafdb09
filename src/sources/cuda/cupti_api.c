/* SPDX-License-Identifier: Apache-2.0 */
#include "sources/cuda/cupti_api.h"

#include <dlfcn.h>
#include <stdio.h>

/* Newest first. Names without a number are those of development packages. */
static const char *const names[] = {"libcupti.so.13",   "libcupti.so.12",   "libcupti.so.11.8",
                                    "libcupti.so.11.7", "libcupti.so.11.6", "libcupti.so.11.5",
                                    "libcupti.so.11.4", "libcupti.so.11.3", "libcupti.so.11.2",
                                    "libcupti.so.11.1", "libcupti.so"};

#define N_NAMES ((uint32_t)(sizeof names / sizeof *names))

/* Open the next library from *AT on: first of all those that the process has. */
static void *open_library(uint32_t *at, const char **name)
{
    while (*at < 2 * N_NAMES) {
        const int loaded = *at < N_NAMES ? RTLD_NOLOAD : 0;

        *name = names[(*at)++ % N_NAMES];
        void *const library = dlopen(*name, RTLD_NOW | RTLD_LOCAL | loaded);
        if (library)
            return library;
    }
    return NULL;
}

static void *find(void *library, const char *name, bool is_required, const char **missing)
{
    void *const function = dlsym(library, name);

    if (!function && is_required)
        *missing = name;
    return function;
}

/* Fill API from LIBRARY. Returns the name of a function that it lacks; NULL: none. */
static const char *fill(struct osc_cupti *api, void *library)
{
    const char *missing = NULL;

#define FIND(name, theirs, parameters, is_required) \
    *(void **)&api->name = find(library, #theirs, is_required, &missing);
    OSC_CUPTI_FUNCTION_LIST(FIND)
#undef FIND
    return missing;
}

bool osc_cupti_load(struct osc_cupti *api, uint32_t *at, char *why, size_t bytes)
{
    void *library;

    (void)snprintf(why, bytes,
                   "libcupti.so was not found: install the package nvidia-cuda-cupti, or "
                   "Debian's libcupti");
    while ((library = open_library(at, &api->library)) != NULL) {
        const char *const missing = fill(api, library);

        if (!missing) {
            if (api->get_version(&api->version) != OSC_CUPTI_OK)
                api->version = 0;
            return true;
        }
        (void)snprintf(why, bytes, "%s has no %s()", api->library, missing);
        (void)dlclose(library);
    }
    return false;
}
