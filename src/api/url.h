/* SPDX-License-Identifier: Apache-2.0 */
/*
 * url.h - the path and the query of a request, decoded.
 *
 * Only what is well-formed is read: percent signs with two hexadecimal digits, no NUL. In a
 * query a plus sign is a blank, as forms and URLSearchParams write it.
 *
 * Threading: one thread.
 */
#pragma once

#include "base/status.h"

#define OSC_URL_PAIRS_MAX 64u

/* Both are decoded. VALUE is NULL without "=". */
struct osc_url_pair {
    const char *name, *value;
};

/* Zeroed, it is empty. */
struct osc_url {
    char *text; /* owned; all the others point into it */
    const char *path;
    struct osc_url_pair pairs[OSC_URL_PAIRS_MAX];
    unsigned n_pairs;
};

/* Read TARGET, such as "/api/v1/table/steps?limit=5". OSC_EINVAL: it is malformed. Call
 * osc_url_fini() in any case. */
OSC_MUST_USE osc_status osc_url_read(struct osc_url *u, const char *target,
                                     struct osc_err *err);
void osc_url_fini(struct osc_url *u);

/* The value of the last pair called NAME; "" without "="; NULL: there is none. */
const char *osc_url_get(const struct osc_url *u, const char *name);
