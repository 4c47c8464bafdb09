/* SPDX-License-Identifier: Apache-2.0 */
/*
 * numbers.h - the lists of integers that the recorder of torch writes (touches.h).
 *
 * Threading: not locked; the trace is read only.
 */
#pragma once

#include "model/trace.h"

#define OSC_STORAGES_KEYS 8 /* the arguments `Storages` to `Storages 8` */

/* The integers of a JSON list; anything else ends it. */
struct osc_numbers {
    const char *at, *end; /* borrowed; NULL: there is no list */
    uint32_t n;           /* that were read */
};

/* Those of argument KEY of row I of C. */
struct osc_numbers osc_numbers_of(const struct osc_trace *t, const struct osc_chunk *c,
                                  uint32_t i, enum osc_arg_key key);

/* Read the next integer: its sign, and its size without it. False: there is none. */
bool osc_numbers_next(struct osc_numbers *n, bool *is_negative, uint64_t *value);
