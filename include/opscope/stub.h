/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stub.h - record without linking: all of record.h and source.h for programs that are shipped
 * to machines without opscope.
 *
 *     #include <opscope/stub.h>    // instead of record.h, in every file; before scope.hpp
 *
 * A program needs no library to link and none to run. At its start, or when it calls
 * osc_start(), libopscope.so.0 is loaded, and only then does anything record:
 *
 *   - at the start if OPSCOPE_OUT is set, as `opscope run` does, and OPSCOPE is not 0;
 *   - by osc_start(), or by osc_stub_load(), which records nothing by itself.
 *
 * A plugin of a program that is linked with the library needs neither: it records whenever its
 * program does.
 *
 * The library is the one that the process has already, else the file OPSCOPE_LIBRARY, which
 * `opscope run` sets to its own, else the one that the loader finds. A set-user-ID program, or
 * another one whose environment is not its user's, loads nothing, and neither does one that is
 * linked with -static.
 *
 * While it is not loaded, a recording call is two loads and a branch, functions return 0 or "",
 * and names are 0: make none that are kept before it is loaded (osc_name_once() makes none). A
 * function that an older library lacks does nothing.
 *
 * Each function is defined here, weak and hidden, so a program or library has its own, however
 * many of its files include this. Link with -ldl where libdl is a library of its own.
 *
 * Threading: as in record.h. Whoever calls osc_start() or osc_stub_load() must not do so from
 * two threads at once.
 */
#ifndef OPSCOPE_STUB_H
#define OPSCOPE_STUB_H

#ifdef OPSCOPE_DISABLE

#include "record.h"
#include "source.h"

OSC_DISABLED_ osc_status osc_stub_load(const char *file)
{
    (void)file;
    return OSC_OK;
}

#else

#if defined OPSCOPE_RECORD_H || defined OPSCOPE_OPSCOPE_H
#error "include opscope/stub.h instead of opscope/record.h, and before opscope/scope.hpp"
#endif
#define OSC_API __attribute__((weak, visibility("hidden")))

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "calls.h"
#include "opscope.h"
#include "record.h"
#include "source.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The library's functions; NULL: not loaded, or it lacks them. */
struct osc_stub {
    osc_status (*osc_start)(const struct osc_start_options *options);
    int (*osc_version)(void);
    const char *(*osc_start_reason)(void);
    const char *(*osc_status_text)(enum osc_status_code code);
#define OSC_STUB_V(name, parameters, arguments)              void(*name) parameters;
#define OSC_STUB_R(type, name, parameters, arguments, value) type(*name) parameters;
    OSC_STUB_LIST(OSC_STUB_V, OSC_STUB_R)
#undef OSC_STUB_V
#undef OSC_STUB_R
    char why[256]; /* it could not be loaded; "": it was, or nobody tried */
};
OSC_API struct osc_stub osc_stub_;

/* What osc_is_on() reads: the library's variable, or 0. */
OSC_API int osc_stub_off_;
OSC_API int *osc_stub_on_ = &osc_stub_off_;
/* What osc_wants() reads: the library's levels, or 0. */
OSC_API signed char osc_stub_none_[OSC_CATEGORIES];
OSC_API signed char *osc_stub_levels_ = osc_stub_none_;

#define OSC_STUB_V(name, parameters, arguments) \
    OSC_API void name parameters                \
    {                                           \
        if (osc_stub_.name)                     \
            osc_stub_.name arguments;           \
    }
#define OSC_STUB_R(type, name, parameters, arguments, value)        \
    OSC_API type name parameters                                    \
    {                                                               \
        return osc_stub_.name ? osc_stub_.name arguments : (value); \
    }
OSC_STUB_LIST(OSC_STUB_V, OSC_STUB_R)
#undef OSC_STUB_V
#undef OSC_STUB_R

/* NAME of LIBRARY into *FUNCTION, which has the size of a pointer. */
OSC_API void osc_stub_find(void *library, const char *name, void *function);
OSC_API void osc_stub_find(void *library, const char *name, void *function)
{
    void *const found = dlsym(library, name);

    memcpy(function, &found, sizeof found);
}

/* Why the library cannot be used. */
OSC_API osc_status osc_stub_fail(const char *why);
OSC_API osc_status osc_stub_fail(const char *why)
{
    size_t count = strlen(why);

    count = count < sizeof osc_stub_.why - 1 ? count : sizeof osc_stub_.why - 1;
    memcpy(osc_stub_.why, why, count);
    osc_stub_.why[count] = '\0';
    return OSC_ENOTFOUND;
}

/* Use LIBRARY from now on, which the loader gave. */
OSC_API OSC_MUST_USE osc_status osc_stub_use(void *library);
OSC_API osc_status osc_stub_use(void *library)
{
    void (*shared)(int **state, signed char **levels) = NULL;
    signed char *levels = NULL;
    int *state = NULL;

    osc_stub_find(library, "osc_shared_", &shared);
    if (!shared)
        return osc_stub_fail("the library has no osc_shared_: it is not libopscope");
#define OSC_STUB_V(name, parameters, arguments) osc_stub_find(library, #name, &osc_stub_.name);
#define OSC_STUB_R(type, name, parameters, arguments, value) \
    osc_stub_find(library, #name, &osc_stub_.name);
    OSC_STUB_LIST(OSC_STUB_V, OSC_STUB_R)
#undef OSC_STUB_V
#undef OSC_STUB_R
    osc_stub_find(library, "osc_start", &osc_stub_.osc_start);
    osc_stub_find(library, "osc_start_reason", &osc_stub_.osc_start_reason);
    osc_stub_find(library, "osc_version", &osc_stub_.osc_version);
    osc_stub_find(library, "osc_status_text", &osc_stub_.osc_status_text);
    osc_stub_.why[0] = '\0';
    /* By a function: variables of a library are not where dlsym() says if the program has
     * copies of them. */
    shared(&state, &levels);
    __atomic_store_n(&osc_stub_levels_, levels, __ATOMIC_RELAXED);
    /* release: other threads that see it see the functions. */
    __atomic_store_n(&osc_stub_on_, state, __ATOMIC_RELEASE);
    return OSC_OK;
}

/* Whether the program has no loader (-static): threads and thread-local variables of what it
 * loads by itself do not work. */
OSC_API int osc_stub_is_static(void);
OSC_API int osc_stub_is_static(void)
{
    const unsigned long first = getauxval(AT_PHDR);
    unsigned long left = first ? getauxval(AT_PHNUM) : 0;
    const unsigned char *at;

    memcpy(&at, &first, sizeof at);
    for (; left > 0; left--, at += sizeof(ElfW(Phdr))) {
        ElfW(Phdr) part;

        memcpy(&part, at, sizeof part);
        if (part.p_type == PT_INTERP)
            return 0;
    }
    return 1;
}

/* The library that this process has already, from whatever folder; NULL: it has none. */
OSC_API void *osc_stub_present(void);
OSC_API void *osc_stub_present(void)
{
    return dlopen("libopscope.so.0", RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
}

/*
 * Load the library, if the process has none yet, from FILE; NULL: OPSCOPE_LIBRARY, else what
 * the loader finds as libopscope.so.0. OSC_ENOTFOUND: it cannot be loaded, and
 * osc_start_reason() says why. Once it is loaded, further calls do nothing.
 */
OSC_API OSC_MUST_USE osc_status osc_stub_load(const char *file);
OSC_API osc_status osc_stub_load(const char *file)
{
    void *library = NULL;

    if (osc_stub_on_ != &osc_stub_off_)
        return OSC_OK;
    if (getauxval(AT_SECURE) != 0)
        return osc_stub_fail("the program runs with privileges of another user");
    if (!file)
        file = getenv("OPSCOPE_LIBRARY");
    if (osc_stub_is_static())
        return osc_stub_fail("the program is linked with -static, and cannot load a library");
    library = osc_stub_present();
    if (!library)
        library = dlopen(file && *file ? file : "libopscope.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *const why = dlerror();

        return osc_stub_fail(why ? why : "libopscope.so.0 cannot be loaded");
    }
    return osc_stub_use(library);
}

OSC_API osc_status osc_start(const struct osc_start_options *options)
{
    const osc_status st = osc_stub_load(NULL);

    if (st != OSC_OK)
        return st;
    return osc_stub_.osc_start ? osc_stub_.osc_start(options) : OSC_ENOTFOUND;
}

OSC_API const char *osc_start_reason(void)
{
    return osc_stub_.osc_start_reason ? osc_stub_.osc_start_reason() : osc_stub_.why;
}

OSC_API int osc_version(void)
{
    return osc_stub_.osc_version ? osc_stub_.osc_version() : 0;
}

OSC_API const char *osc_status_text(enum osc_status_code code)
{
    return osc_stub_.osc_status_text ? osc_stub_.osc_status_text(code) : "";
}

/* Before the constructors of C++. */
OSC_API void osc_stub_begin(void);
OSC_API __attribute__((constructor(101))) void osc_stub_begin(void)
{
    const int kept = errno;
    const char *const out = getenv("OPSCOPE_OUT"), *const all = getenv("OPSCOPE");
    void *const present = osc_stub_is_static() ? NULL : osc_stub_present();
    osc_status st = OSC_OK;

    if (present)
        st = osc_stub_use(present);
    else if (out && *out && !(all && strcmp(all, "0") == 0))
        st = osc_stub_load(NULL);
    (void)st; /* nobody asked: a guest prints nothing */
    errno = kept;
}

#ifdef __cplusplus
}
#endif

#endif

#endif
