/* SPDX-License-Identifier: Apache-2.0 */
/*
 * closed.c - load the library, record, close it, and continue as if it were loaded.
 *
 *   closed LIBRARY
 *
 * The environment arms it (OPSCOPE_OUT). A thread that has recorded ends after the library
 * was closed, the same code is called again, and at exit everything is written.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <opscope/record.h>

static void (*scope_begin)(enum osc_scope_kind, osc_name);
static void (*scope_end)(void);
static osc_name (*name_c)(const char *);
static pthread_barrier_t step;

static void *find(void *library, const char *name)
{
    void *p = dlsym(library, name);

    if (!p)
        (void)fprintf(stderr, "closed: %s\n", dlerror());
    return p;
}

static void *record(void *arg)
{
    scope_begin(OSC_SCOPE_PLAIN, name_c("before it is closed"));
    (void)pthread_barrier_wait(&step);
    (void)pthread_barrier_wait(&step);
    scope_end();
    return arg;
}

int main(int argc, char **argv)
{
    void *library = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    pthread_t thread;

    if (!library) {
        (void)fprintf(stderr, "closed: %s\n", argc == 2 ? dlerror() : "one argument");
        return 1;
    }
    void *found[] = {find(library, "osc_scope_begin"), find(library, "osc_scope_end"),
                     find(library, "osc_name_c")};

    if (!found[0] || !found[1] || !found[2])
        return 1;
    memcpy(&scope_begin, &found[0], sizeof scope_begin);
    memcpy(&scope_end, &found[1], sizeof scope_end);
    memcpy(&name_c, &found[2], sizeof name_c);
    if (pthread_barrier_init(&step, NULL, 2) != 0 ||
        pthread_create(&thread, NULL, record, NULL) != 0)
        return 1;
    (void)pthread_barrier_wait(&step);
    if (dlclose(library) != 0)
        return 1;
    (void)pthread_barrier_wait(&step);
    (void)pthread_join(thread, NULL);
    scope_begin(OSC_SCOPE_PLAIN, name_c("after it was closed"));
    scope_end();
    return 0;
}
