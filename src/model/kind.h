/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kind.h - what an event is, in words that do not depend on the format of the file.
 *
 * Threading: constants and pure functions.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

#define OSC_KIND_LIST(X)              \
    X(NONE, "")                       \
    X(OPERATOR, "operator")           \
    X(ANNOTATION, "annotation")       \
    X(STEP, "step")                   \
    X(MODULE, "module")               \
    X(PYTHON, "python")               \
    X(RUNTIME, "runtime")             \
    X(DRIVER, "driver")               \
    X(KERNEL, "kernel")               \
    X(MEMCPY, "memcpy")               \
    X(MEMSET, "memset")               \
    X(SYNC, "sync")                   \
    X(COMMUNICATION, "communication") \
    X(OVERHEAD, "overhead")           \
    X(DATALOADER, "dataloader")       \
    X(OPTIMIZER, "optimizer")         \
    X(SCOPE, "scope")                 \
    X(ALLOC, "alloc")                 \
    X(FREE, "free")                   \
    X(OOM, "oom")                     \
    X(INSTANT, "instant")             \
    X(COUNTER, "counter")             \
    X(FRAME, "frame")

enum osc_kind {
#define OSC_KIND_ENUM(name, text) OSC_KIND_##name,
    OSC_KIND_LIST(OSC_KIND_ENUM)
#undef OSC_KIND_ENUM
        OSC_KIND_COUNT
};

/* The word for KIND that users see; static. */
const char *osc_kind_text(enum osc_kind kind);

/* The kind whose word is TEXT; OSC_KIND_NONE if there is none. */
enum osc_kind osc_kind_of_text(struct osc_str text);

/* Work that ran on a device: a kernel, a copy or a memset, but not a synchronisation. */
static inline bool osc_kind_is_device_work(enum osc_kind k)
{
    return k == OSC_KIND_KERNEL || k == OSC_KIND_MEMCPY || k == OSC_KIND_MEMSET;
}

/* A host range that the program labelled; steps are such ranges. */
static inline bool osc_kind_is_label(enum osc_kind k)
{
    return k == OSC_KIND_ANNOTATION || k == OSC_KIND_STEP;
}

/* A host call that can launch device work. */
static inline bool osc_kind_is_launch(enum osc_kind k)
{
    return k == OSC_KIND_RUNTIME || k == OSC_KIND_DRIVER;
}
