/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seal.h - the last step of every load, whatever the format.
 *
 * Ends find their begins, rows get their kinds, tracks their processes and counts, and
 * what only some formats say comes from the reader (osc_reader.kinds, .tracks).
 * Afterwards the trace is read-only but for derive/.
 *
 * Threading: one call per trace; uses threads inside.
 */
#pragma once

#include "import/build/reader.h"
#include "model/trace.h"

/* Seal T, which READER has filled. */
OSC_MUST_USE osc_status osc_trace_seal(struct osc_trace *t, const struct osc_reader *reader,
                                       unsigned n_threads);
