/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select_index.h - what rows of a trace go with when some of them are selected.
 *
 * It is the same for all selections of a trace, so it is made once: the steps of each
 * chunk, and the annotations of the host that devices may have copies of.
 *
 * Threading: made by one writer; read-only afterwards.
 */
#pragma once

#include "base/status.h"
#include "derive/classify.h"
#include "model/trace.h"

/* An annotation of the host that devices may have copies of. */
struct osc_original {
    int64_t external;
    uint32_t name; /* osc_sid */
    osc_row row;
};

/* The steps (index + 1) that rows of a chunk go with; first > last: none. */
struct osc_step_span {
    uint32_t first, last;
};

/* What filters look up: OSC_FACT_SELECTION. Zeroed, it is empty. */
struct osc_select_index {
    struct osc_original *originals; /* owned; sorted */
    size_t n_originals;
    struct osc_step_span *spans; /* owned; by chunk of events */
};

OSC_MUST_USE osc_status osc_select_index_make(const struct osc_trace *t,
                                              const struct osc_classes *classes,
                                              unsigned n_threads, struct osc_select_index *x);
void osc_select_index_fini(struct osc_select_index *x);

/*
 * The host row that row I of C, on a device, goes with: its launch, or the annotation that
 * it is a copy of; or none.
 */
osc_row osc_select_cause(const struct osc_trace *t, const struct osc_classes *classes,
                         const struct osc_select_index *x, const struct osc_chunk *c,
                         uint32_t i);

/*
 * The step that host row I of C goes with (index + 1), or 0. An annotation goes with the
 * step that it makes, even if it starts in another: without it there is no such step, and
 * the steps that are left have the rows that they had.
 */
uint32_t osc_select_step(const struct osc_trace *t, const struct osc_chunk *c, uint32_t i);
