/* SPDX-License-Identifier: Apache-2.0 */
/*
 * touches.h - when each piece of memory was allocated, used by calls, and released.
 *
 * A touch is one of these events with its address. Those of calls come from the argument
 * `Storages` of operators, and from `Parameters` and `Optimizer state` of calls of modules and
 * optimizers (src/sources/torch/storages.h, tensors.h). Operators are grouped to *units*: the
 * outermost one that has a schema or is a backward function, with all that runs in it.
 *
 *   - In order of time; of equal times, in the order of the file.
 *   - Records of memory without a device that is known are left out.
 *
 * Threading: one writer; read-only afterwards.
 */
#pragma once

#include "base/status.h"
#include "derive/facts.h"
#include "model/trace.h"

enum osc_touch_what {
    OSC_TOUCH_ALLOC,
    OSC_TOUCH_FREE,
    OSC_TOUCH_READ,      /* by an operator, whose schema says that it does not write */
    OSC_TOUCH_WRITTEN,   /* its schema says that it does */
    OSC_TOUCH_USED,      /* by a call without a schema that its inputs fit */
    OSC_TOUCH_PARAMETER, /* of a module or an optimizer */
    OSC_TOUCH_GRADIENT,  /* of a parameter */
    OSC_TOUCH_STATE,     /* of an optimizer */
};

struct osc_touch {
    int64_t time_ns;
    uint64_t address;
    uint32_t row;
    uint32_t process;
    uint32_t unit;   /* the unit's place in osc_order.rows + 1, or 0 */
    uint32_t record; /* ALLOC, FREE: index in osc_allocations.records */
    uint8_t what;    /* enum osc_touch_what */
};

/* Zeroed, it is empty. */
struct osc_touches {
    struct osc_touch *all; /* owned */
    size_t n, cap;
    uint8_t *flags; /* owned; by place in osc_order.rows: bits of enum osc_unit_flag */
};

enum osc_unit_flag {
    OSC_UNIT = 1,          /* it is a unit */
    OSC_UNIT_BACKWARD = 2, /* it is a backward function, or in one */
};

/* Find the touches of T. Without any `Storages` TOUCHES stays empty. */
OSC_MUST_USE osc_status osc_touches_find(const struct osc_trace *t, const struct osc_facts *f,
                                         struct osc_touches *touches);
void osc_touches_fini(struct osc_touches *touches);
