/* SPDX-License-Identifier: Apache-2.0 */
#include "sources/next_symbol.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>

#define LIBRARIES_MAX 1024u

/* Paths of what is loaded, which hold as long as it is. */
struct loaded {
    const char *paths[LIBRARIES_MAX];
    size_t n;
};

static int add_path(struct dl_phdr_info *info, size_t bytes, void *data)
{
    struct loaded *const all = data;

    (void)bytes;
    if (all->n < LIBRARIES_MAX && info->dlpi_name && info->dlpi_name[0] == '/')
        all->paths[all->n++] = info->dlpi_name;
    return 0;
}

/* Whether SYMBOL is in this library. */
static int is_ours(const void *symbol)
{
    static const char here = 0;
    Dl_info mine, its;

    return dladdr(&here, &mine) && dladdr(symbol, &its) && mine.dli_fbase == its.dli_fbase;
}

/* The function NAME of the library at PATH, if that is loaded. */
static void *find_in(const char *path, const char *name, void **handle)
{
    void *const library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    void *const symbol = library ? dlsym(library, name) : NULL;

    if (symbol && !is_ours(symbol)) {
        *handle = library;
        return symbol;
    }
    if (library)
        dlclose(library);
    return NULL;
}

void *osc_next_symbol(const char *name, const char *library, void **handle)
{
    struct loaded all = {.n = 0};
    void *symbol = dlsym(RTLD_NEXT, name);
    Dl_info where;

    *handle = NULL;
    if (symbol) {
        if (dladdr(symbol, &where))
            *handle = dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
        return symbol;
    }
    symbol = find_in(library, name, handle);
    if (symbol)
        return symbol;
    (void)dl_iterate_phdr(add_path, &all);
    for (size_t i = 0; i < all.n && !symbol; i++)
        symbol = find_in(all.paths[i], name, handle);
    return symbol;
}
