/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cupti_api.h - the functions of CUPTI, found when a program uses CUDA.
 *
 * The library that the process has loaded is used, for a second copy would know nothing of it;
 * else the loader looks for one. It is never unloaded. Functions that older versions lack are
 * NULL; those that nothing works without are marked.
 *
 * Threading: read-only once loaded.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "sources/cuda/cupti_abi.h"

typedef void (*osc_cupti_callback)(void *user, int domain, uint32_t call, const void *data);
typedef void (*osc_cupti_request)(uint8_t **buffer, size_t *bytes, size_t *n_records);
typedef void (*osc_cupti_complete)(void *context, uint32_t stream, uint8_t *buffer,
                                   size_t bytes, size_t valid_bytes);
typedef uint64_t (*osc_cupti_clock)(void);

/* X(NAME, NVIDIA's name, parameters, whether it is required) */
#define OSC_CUPTI_FUNCTION_LIST(X)                                                         \
    X(get_version, cuptiGetVersion, (uint32_t *), true)                                    \
    X(get_timestamp, cuptiGetTimestamp, (uint64_t *), false)                               \
    X(subscribe, cuptiSubscribe, (void **, osc_cupti_callback, void *), true)              \
    X(subscribe_by_name, cuptiSubscribe_v2,                                                \
      (void **, osc_cupti_callback, void *, struct osc_cupti_subscriber *), false)         \
    X(unsubscribe, cuptiUnsubscribe, (void *), true)                                       \
    X(enable_callback, cuptiEnableCallback, (uint32_t, void *, int, uint32_t), false)      \
    X(enable_domain, cuptiEnableDomain, (uint32_t, void *, int), true)                     \
    X(enable, cuptiActivityEnable, (int), true)                                            \
    X(disable, cuptiActivityDisable, (int), true)                                          \
    X(register_callbacks, cuptiActivityRegisterCallbacks,                                  \
      (osc_cupti_request, osc_cupti_complete), true)                                       \
    X(register_clock, cuptiActivityRegisterTimestampCallback, (osc_cupti_clock), false)    \
    X(next_record, cuptiActivityGetNextRecord, (uint8_t *, size_t, uint8_t **), true)      \
    X(get_dropped, cuptiActivityGetNumDroppedRecords, (void *, uint32_t, size_t *), false) \
    X(flush_all, cuptiActivityFlushAll, (uint32_t), true)

struct osc_cupti {
    /* NOLINTBEGIN(bugprone-macro-parentheses): a list in parentheses, and a name */
#define OSC_CUPTI_MEMBER(name, theirs, parameters, is_required) int(*name) parameters;
    OSC_CUPTI_FUNCTION_LIST(OSC_CUPTI_MEMBER)
    /* NOLINTEND(bugprone-macro-parentheses) */
#undef OSC_CUPTI_MEMBER
    uint32_t version;    /* as cuptiGetVersion() has it: 27, or 130001 */
    const char *library; /* its name; static */
};

/* Fill API from the next library, of which *AT, at first 0, counts those that were tried.
 * False: there is none that can be used, and WHY, which has room for BYTES, says so. */
bool osc_cupti_load(struct osc_cupti *api, uint32_t *at, char *why, size_t bytes);
