/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kinds.h - the kind of each row: that of its form, and what its name adds.
 *
 * Readers say of a form what its rows are. Of operators and labels of the host the name
 * says more: libraries label steps, optimizers, loaders of data and collectives so
 * (model/known_names.h). A frame that is of a module is one.
 *
 * Threading: one call per trace; uses threads inside.
 */
#pragma once

#include "model/trace.h"

/* Fill the kind column of all events of T, whose forms have kinds. */
OSC_MUST_USE osc_status osc_kinds_set(struct osc_trace *t, unsigned n_threads);
