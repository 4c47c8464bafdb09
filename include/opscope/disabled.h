/* SPDX-License-Identifier: Apache-2.0 */
/*
 * disabled.h - with OPSCOPE_DISABLE, functions of record.h and source.h that do nothing, and
 * need no library. They return 0, OSC_OK or "". record.h includes it.
 *
 * Threading: pure functions.
 */
#ifndef OPSCOPE_DISABLED_H
#define OPSCOPE_DISABLED_H

#include "calls.h"

struct osc_device_info;
struct osc_work_info;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define OSC_DISABLED_V(name, parameters, arguments) \
    OSC_API void name parameters                    \
    {                                               \
    }
#define OSC_DISABLED_R(type, name, parameters, arguments, value) \
    OSC_API type name parameters                                 \
    {                                                            \
        return value;                                            \
    }
OSC_STUB_LIST(OSC_DISABLED_V, OSC_DISABLED_R)
OSC_DISABLED_R(osc_status, osc_start, (const struct osc_start_options *options), (options),
               OSC_OK)
OSC_DISABLED_R(const char *, osc_start_reason, (void), (), "")
#undef OSC_DISABLED_V
#undef OSC_DISABLED_R
#pragma GCC diagnostic pop

#endif
