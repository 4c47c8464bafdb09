/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bystanders.h - what runs in selected steps and does not belong to them.
 *
 * A step that waits for a device goes on while the host works for the next one, and threads
 * and devices do things that belong to no step. In the whole trace that is part of the time of
 * the step. A view of selected steps lacks these rows, so it carries when they ran, by class:
 * selecting a step does not change how its time divides. With --compat tb a kernel is
 * communication by the external id of its collective, which another step may have called: the
 * view carries these ids, too. Tables of operators, calls and device work do not see them.
 *
 * Threading: not locked.
 */
#pragma once

#include "base/status.h"
#include "derive/select.h"
#include "model/trace.h"

/*
 * Store in VIEW, which has the bounds of its steps, what runs in them among the rows of BASE
 * that S without its steps selects, but not those whose byte in WANTED, by number of the row,
 * has one of the bits IN_VIEW. BASE has OSC_FACT_VIEWS; VIEW is a view of it.
 */
OSC_MUST_USE osc_status osc_bystanders_find(const struct osc_trace *base,
                                            const struct osc_selection *s,
                                            const uint8_t *wanted, uint8_t in_view,
                                            struct osc_trace *view);

/* Whether the rows that S without its steps selects of T, which has OSC_FACT_LINKS, or what T
 * was read from, have kernels that are communication. */
bool osc_bystanders_has_comm_kernels(const struct osc_trace *t, const struct osc_filter *rest);
