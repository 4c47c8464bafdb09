/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client of NVTX for tests/sources/nvtx.py whose tables are not what they should be: it calls
 * the library of NVTX_INJECTION64_PATH as NVTX's headers do, and prints what that answers.
 */
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef void (*function)(void);

struct callbacks {
    size_t bytes;
    int (*get_module)(int module, function ***table, unsigned *n);
};

static function functions[32];
static function *places[32];

static int no_module(int module, function ***table, unsigned *n)
{
    (void)module, (void)table, (void)n;
    return 0;
}

static int empty_module(int module, function ***table, unsigned *n)
{
    (void)module;
    *table = NULL;
    *n = 100;
    return 1;
}

/* An older version: fewer functions, and one that is left out. */
static int short_module(int module, function ***table, unsigned *n)
{
    for (int i = 0; i < 32; i++)
        places[i] = i == 3 ? NULL : &functions[i];
    *table = places;
    *n = module == 1 ? 12 : 0; /* up to nvtxRangePop() */
    return 1;
}

static struct callbacks callbacks;

static const void *get_nothing(uint32_t table)
{
    (void)table;
    return NULL;
}

static const void *get_table(uint32_t table)
{
    return table == 1 ? &callbacks : NULL;
}

int main(void)
{
    const char *const path = getenv("NVTX_INJECTION64_PATH");
    void *const library = path && *path ? dlopen(path, RTLD_NOW) : NULL;
    int (*init)(const void *(*get)(uint32_t)) = NULL;
    int (*extend)(void *) = NULL;
    static const struct callbacks all[] = {{0, no_module},
                                           {sizeof(size_t), no_module},
                                           {sizeof callbacks, NULL},
                                           {sizeof callbacks, no_module},
                                           {sizeof callbacks, empty_module},
                                           {sizeof callbacks, short_module}};

    if (!library)
        return 0;
    *(void **)&init = dlsym(library, "InitializeInjectionNvtx2");
    *(void **)&extend = dlsym(library, "InitializeInjectionNvtxExtension");
    printf("%d %d %d", extend(NULL), init(NULL), init(get_nothing));
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        callbacks = all[i];
        printf(" %d", init(get_table));
    }
    int (*const push)(const char *) = (int (*)(const char *))functions[9];
    int (*const pop)(void) = (int (*)(void))functions[11];
    printf(" %d", push ? push("of an older version") : 9);
    printf(" %d %d %d\n", pop ? pop() : 9, functions[3] != NULL, functions[12] != NULL);
    return 0;
}
