/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select_window.h - the part of a file that a selection needs.
 *
 * A huge file is read twice: first its steps and the work by which they are measured, which
 * tell the window and the bounds of the steps, then what lies in the window. That is also what
 * else runs in the steps, up to their ends (derive/part/bystanders.h).
 *
 * Threading: not locked.
 */
#pragma once

#include "base/status.h"
#include "derive/select.h"
#include "model/trace.h"

/* The times between which selected rows start, on the clock of the file. */
struct osc_select_window {
    int64_t from_ns, host_to_ns, device_to_ns; /* INT64_MIN and INT64_MAX: no bound */
    uint32_t n_steps_before;       /* steps that start before from_ns and are left out */
    struct osc_step_bound *bounds; /* owned; of all steps, if S selects steps */
    uint32_t n_bounds;
    bool has_steps;        /* the program announced steps, perhaps none of them in the window */
    bool has_comm_kernels; /* some work in S without its steps is communication */
};

/*
 * The largest window that S can need, so that loading can leave out the rest. T must have the
 * origin, and if S selects steps, all steps and the work and calls by which they are measured,
 * but needs nothing else. A view of what was loaded must follow. *IS_SURE becomes false if such
 * a T does not tell the bounds of the steps: then nothing may be left out. The caller calls
 * osc_select_window_fini().
 */
OSC_MUST_USE osc_status osc_select_find_window(struct osc_trace *t,
                                               const struct osc_selection *s,
                                               struct osc_select_window *w, bool *is_sure,
                                               struct osc_err *err);
void osc_select_window_fini(struct osc_select_window *w);
