/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select_index.h - data for selecting rows that belong to other rows.
 *
 * It is the same for all selections of a trace and so made once: the steps of each chunk, and
 * the host annotations that may have copies on devices.
 *
 * Threading: made by one writer; read-only afterwards.
 */
#pragma once

#include "base/status.h"
#include "derive/classify.h"
#include "model/trace.h"

/* A host annotation that may have copies on devices. */
struct osc_original {
    int64_t external;
    uint32_t name; /* osc_sid */
    osc_row row;
};

/* The steps (index + 1) of the rows in a chunk; first > last: none. */
struct osc_step_span {
    uint32_t first, last;
};

/* What filters look up: OSC_FACT_SELECTION. Zeroed, it is empty. */
struct osc_select_index {
    struct osc_original *originals; /* owned; sorted */
    size_t n_originals;
    struct osc_step_span *spans; /* owned; by chunk of events */
    bool are_of_device;          /* steps are drawn on a device, whose work they contain */
};

OSC_MUST_USE osc_status osc_select_index_make(const struct osc_trace *t,
                                              const struct osc_classes *classes,
                                              bool are_of_device, unsigned n_threads,
                                              struct osc_select_index *x);
void osc_select_index_fini(struct osc_select_index *x);

/*
 * The host row to which row I of C, on a device, belongs: its launch, or the annotation of
 * which it is a copy; or none.
 */
osc_row osc_select_cause(const struct osc_trace *t, const struct osc_classes *classes,
                         const struct osc_select_index *x, const struct osc_chunk *c,
                         uint32_t i);

/*
 * The step (index + 1) to which host row I of C belongs, or 0. The annotation of a step
 * belongs to that step even if it starts in another one: without it the step would not exist,
 * and each remaining step would lose rows.
 */
uint32_t osc_select_step(const struct osc_trace *t, const struct osc_chunk *c, uint32_t i);

/* The step (index + 1) to which row I of C, on a device, belongs, or 0: that of its cause, or
 * the one that contains it. */
uint32_t osc_select_device_step(const struct osc_trace *t, const struct osc_classes *classes,
                                const struct osc_select_index *x, const struct osc_chunk *c,
                                uint32_t i);
