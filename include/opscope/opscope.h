/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opscope.h - version, status and export of symbols: what the other headers share.
 *
 * Clean as C99 and as C++11. Nothing here allocates, locks or prints.
 *
 * Threading: constants and pure functions.
 */
#ifndef OPSCOPE_OPSCOPE_H
#define OPSCOPE_OPSCOPE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define OSC_VERSION_MAJOR 0
#define OSC_VERSION_MINOR 1
#define OSC_VERSION_PATCH 0

/* Makes a symbol visible outside its library. opscope/stub.h has functions of its own. */
#ifndef OSC_API
#define OSC_API __attribute__((visibility("default")))
#endif

/* Functions that are compiled into programs. The library has them, too, for other languages. */
#ifndef OSC_INLINE
#define OSC_INLINE static inline
#endif

#define OSC_STATUS_LIST(X)                             \
    X(OSC_OK, "done")                                  \
    X(OSC_ENOMEM, "out of memory")                     \
    X(OSC_ELIMIT, "a limit was reached")               \
    X(OSC_EIO, "input or output failed")               \
    X(OSC_EFORMAT, "not in a format that can be read") \
    X(OSC_ETRUNC, "the input ends too early")          \
    X(OSC_EINVAL, "wrong argument")                    \
    X(OSC_ENOTFOUND, "not found")                      \
    X(OSC_ECANCELED, "interrupted")

enum osc_status_code {
#define OSC_STATUS_ENUM(name, text) name,
    OSC_STATUS_LIST(OSC_STATUS_ENUM)
#undef OSC_STATUS_ENUM
};

/* With OPSCOPE_DISABLE, functions of the recorder are these, which do nothing. */
#define OSC_DISABLED_ static inline __attribute__((unused))

/* What CODE means, such as "out of memory"; static. */
#ifdef OPSCOPE_DISABLE
OSC_DISABLED_ const char *osc_status_text(enum osc_status_code code)
{
    (void)code;
    return "";
}
#else
OSC_API const char *osc_status_text(enum osc_status_code code);
#endif

/* Every function that can fail returns this; the caller must check it. */
typedef enum osc_status_code osc_status;
#define OSC_MUST_USE __attribute__((warn_unused_result))

#define OSC_NO_OFFSET UINT64_MAX

/* Details of a failure. The caller owns it, zeroes it, and usually keeps it on its stack. */
struct osc_err {
    osc_status code;
    uint64_t offset;    /* offset in the input, in bytes; or OSC_NO_OFFSET */
    char message[1000]; /* a sentence: lower case, no full stop; "": the code is enough */
};

/*
 * The version of the library at run time: MAJOR * 10000 + MINOR * 100 + PATCH. A header works
 * with every library of the same MAJOR version that is at least as new.
 */
#ifdef OPSCOPE_DISABLE
OSC_DISABLED_ int osc_version(void)
{
    return 0;
}
#else
OSC_API int osc_version(void);
#endif

#ifdef __cplusplus
}
#endif

#endif
