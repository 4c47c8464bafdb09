/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_counter.h - what sources could not record whole, counted in each recording.
 *
 *     static struct osc_source_counter lost = {.text = "opencl: lost commands"};
 *
 *     osc_source_counter_add(&lost, 3);
 *
 * A count is a counter of the recording, whose last value is the number; `opscope quality` sums
 * it over processes. It begins at 0 in each recording of a process and in each child of a fork.
 *
 * Threading: thread-safe, without locks.
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

struct osc_source_counter {
    const char *text; /* "SOURCE: WHAT"; good for ever */
    /* The count in the low 40 bits, above it the low bits of the number of its recording; 0:
     * a recording that is still to come. */
    _Atomic uint64_t state;
};

/* The counters of LIST, an X-macro of (NAME, TEXT) whose enumeration numbers them. */
#define OSC_SOURCE_COUNTER(name, text) {text, 0},
#define OSC_SOURCE_COUNTERS(list) \
    {                             \
        list(OSC_SOURCE_COUNTER)  \
    }

/* Count MORE, from 0, of what C counts, if the process records. */
void osc_source_counter_add(struct osc_source_counter *c, uint64_t more);
