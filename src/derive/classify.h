/* SPDX-License-Identifier: Apache-2.0 */
/*
 * classify.h - what a name implies: communication, Tensor Cores, eligibility for them.
 *
 * Lists of names of libraries and calls are in model/known_names.c; those of Tensor Cores and
 * of eligible operators are here. Each name is examined once, however many events have it:
 * osc_classes holds a word of flags per string and per form. Names of Python frames, of which
 * there are many, are not examined.
 *
 *   - What tables derive from them: the rules COMMUNICATION and TENSOR_CORES of table/rules.md.
 *   - The lists of 2021 are those of the TensorBoard plugin, for --compat tb; the longer
 *     ones are our own.
 *   - Matrix cores of AMD count as Tensor Cores, but not for the plugin.
 *   - For a name that no rule covers the answer is "unknown", not "no": osc_tensor_cores.
 *
 * Threading: pure functions; a struct osc_classes is read-only once made.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "base/str.h"
#include "model/trace.h"

enum osc_name_flag {
    OSC_NAME_SEEN_KERNEL = 1,   /* the bits of kernels are valid */
    OSC_NAME_COMM_KERNEL = 2,   /* a device kernel of a communication library */
    OSC_NAME_COMM_HOST = 4,     /* the host range of a collective */
    OSC_NAME_COMM_TB = 8,       /* one of the ten collectives that the plugin knows */
    OSC_NAME_TC = 16,           /* a kernel that uses Tensor Cores */
    OSC_NAME_TC_RULE = 32,      /* some rule covers this name */
    OSC_NAME_TC_TB = 64,        /* uses Tensor Cores by the list of 2021 */
    OSC_NAME_ELIGIBLE = 128,    /* an operator that can use Tensor Cores */
    OSC_NAME_ELIGIBLE_TB = 256, /* eligible by the list of 2021 */
    OSC_NAME_WRAPPER = 512,     /* wraps operators and does not count as one */
    OSC_NAME_OPTIMIZER = 1024,  /* a step of an optimizer */
    OSC_NAME_SEEN_HOST = 2048,  /* the bits of host ranges are valid */
    OSC_NAME_SYNC = 4096,       /* a call that returns when the device is done */
    OSC_NAME_ALLOCATOR = 8192,  /* a call that allocates or frees device memory */
    OSC_NAME_GRAPH = 16384,     /* a call that launches a graph of kernels */
    OSC_NAME_LAUNCH = 32768     /* a call that always launches something */
};

enum osc_form_flag {
    OSC_FORM_ON_DEVICE = 1, /* happens on a device */
    OSC_FORM_COMM = 2,      /* has the arguments of a collective */
    OSC_FORM_FUNCTION = 4,  /* a frame, not a range of the program */
    OSC_FORM_RANGE = 8,     /* part of the forest if it has a duration */
    OSC_FORM_CALL = 16,     /* a range of the device runtime or driver */
    OSC_FORM_OPERATOR = 32, /* a range of the host: an operator */
    OSC_FORM_WORK = 64      /* a range of device work or synchronisation */
};

enum osc_tensor_cores { OSC_TENSOR_CORES_NO, OSC_TENSOR_CORES_YES, OSC_TENSOR_CORES_UNKNOWN };

/* Zeroed, it is empty. */
struct osc_classes {
    uint16_t *names;      /* owned; bits of enum osc_name_flag, by osc_sid */
    uint32_t n_names;     /* sids from here on are no names of events */
    uint8_t *forms;       /* owned; bits of enum osc_form_flag, by osc_form_id */
    bool has_device_comm; /* some kernel of the trace is communication */
};

/* The flags of NAME as the name of a kernel; osc_classify_host(): as that of a host range. */
uint16_t osc_classify_kernel(struct osc_str name);
uint16_t osc_classify_host(struct osc_str name);

/* Examine every name and form of the events of T. */
OSC_MUST_USE osc_status osc_classes_make(const struct osc_trace *t, struct osc_classes *c);
void osc_classes_fini(struct osc_classes *c);

/* Whether the kernel in row I of chunk K is communication. */
static inline bool osc_is_comm_kernel(const struct osc_classes *c, const struct osc_chunk *k,
                                      uint32_t i)
{
    return (c->names[k->name[i]] & OSC_NAME_COMM_KERNEL) != 0 ||
           (c->forms[k->form[i]] & OSC_FORM_COMM) != 0;
}

/* Whether row I of chunk K is a finished synchronous range. */
static inline bool osc_is_range(const struct osc_classes *c, const struct osc_chunk *k,
                                uint32_t i)
{
    return k->dur_ns[i] != OSC_NO_DUR && (c->forms[k->form[i]] & OSC_FORM_RANGE) != 0;
}

/* Whether row I of chunk K lies on a device queue; includes annotations there. */
static inline bool osc_is_on_device(const struct osc_classes *c, const struct osc_chunk *k,
                                    uint32_t i)
{
    return (c->forms[k->form[i]] & OSC_FORM_ON_DEVICE) != 0;
}

/* Whether a kernel whose name has FLAGS uses Tensor Cores. */
static inline enum osc_tensor_cores osc_name_tensor_cores(uint16_t flags, bool compat_tb)
{
    if (flags & OSC_NAME_TC_TB)
        return OSC_TENSOR_CORES_YES;
    if (compat_tb)
        return OSC_TENSOR_CORES_NO;
    if (flags & OSC_NAME_TC)
        return OSC_TENSOR_CORES_YES;
    return flags & OSC_NAME_TC_RULE ? OSC_TENSOR_CORES_NO : OSC_TENSOR_CORES_UNKNOWN;
}

/* Whether a share of TENSOR_NS in WHOLE_NS is known, of which no rule covers the names of
 * UNKNOWN_NS: they may change it by a hundredth at most, and not from nothing. */
static inline bool osc_tensor_share_is_known(int64_t tensor_ns, int64_t unknown_ns,
                                             int64_t whole_ns)
{
    return unknown_ns <= whole_ns / 100 && (tensor_ns > 0 || unknown_ns == 0);
}

/* Whether an operator whose name has FLAGS can use Tensor Cores. */
static inline bool osc_name_is_eligible(uint16_t flags, bool compat_tb)
{
    return (flags & (compat_tb ? OSC_NAME_ELIGIBLE_TB : OSC_NAME_ELIGIBLE)) != 0;
}
