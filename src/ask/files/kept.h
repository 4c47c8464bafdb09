/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kept.h - the traces of a set before it is refreshed, to be found by the files that they are
 * of.
 *
 * Threading: one thread.
 */
#pragma once

#include "base/hash.h"
#include "base/idmap.h"
#include "base/status.h"
#include "model/trace.h"

struct osc_kept {
    struct osc_trace *const *traces; /* borrowed; held (held.h) */
    struct osc_idmap first;          /* digest and part -> index + 1 of the first trace */
    uint32_t *next; /* owned; index + 1 of the next with the same key; NULL: none */
};

/* Find the N TRACES. OSC_ENOMEM: call osc_kept_fini() as well. */
OSC_MUST_USE osc_status osc_kept_init(struct osc_kept *k, struct osc_trace *const *traces,
                                      uint32_t n);
void osc_kept_fini(struct osc_kept *k);

/* Find trace PART of FILES, and forget it: it is taken once. NULL: absent, or the files have
 * changed. */
struct osc_trace *osc_kept_take(struct osc_kept *k, const struct osc_digest *files,
                                uint32_t part);
