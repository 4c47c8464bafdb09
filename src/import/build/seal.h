/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seal.h - the last step of every load, whatever the format.
 *
 * Ends are joined to their begins, wild times are left out, rows get kinds, and tracks get
 * processes and counts. The reader adds what only its format has (osc_reader.kinds, .tracks).
 * Afterwards only derive/ changes the trace.
 *
 * Threading: one call per trace; uses threads inside.
 */
#pragma once

#include "import/build/reader.h"
#include "model/trace.h"

/* Seal T, which READER has filled. LEFT_OUT: how, if rows were left out; else NULL. */
OSC_MUST_USE osc_status osc_trace_seal(struct osc_trace *t, const struct osc_reader *reader,
                                       unsigned n_threads, struct osc_loading *left_out);
