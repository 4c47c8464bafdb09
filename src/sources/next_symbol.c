/* SPDX-License-Identifier: Apache-2.0 */
#include "sources/next_symbol.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#define BYTES_MAX ((size_t)256 << 10)

/* Paths of what is loaded, one after the other: copies, because a library may be unloaded. */
static struct loaded {
    char paths[BYTES_MAX];
    size_t len;
} all;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of that */

static int add_path(struct dl_phdr_info *info, size_t bytes, void *data)
{
    struct loaded *const to = data;
    const size_t n = info->dlpi_name ? strlen(info->dlpi_name) + 1 : 0;

    (void)bytes;
    if (n > 1 && info->dlpi_name[0] == '/' && to->len + n <= sizeof to->paths) {
        memcpy(to->paths + to->len, info->dlpi_name, n);
        to->len += n;
    }
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
    pthread_mutex_lock(&lock);
    all.len = 0;
    (void)dl_iterate_phdr(add_path, &all);
    for (size_t at = 0; at < all.len && !symbol; at += strlen(all.paths + at) + 1)
        symbol = find_in(all.paths + at, name, handle);
    pthread_mutex_unlock(&lock);
    return symbol;
}
