/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kinds.h - the kind of each row: that of its form, refined by its name.
 *
 * Readers give each form a kind. For operators and labels of the host the name says more:
 * libraries mark steps, optimizers, data loaders and collectives by names
 * (model/known_names.h). A frame with the name of a module is a module.
 *
 * Threading: one call per trace; uses threads inside.
 */
#pragma once

#include "model/trace.h"

/* Fill the kind column of all events of T, whose forms have kinds. */
OSC_MUST_USE osc_status osc_kinds_set(struct osc_trace *t, unsigned n_threads);
