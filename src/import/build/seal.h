/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seal.h - the last step of every load, whatever the format.
 *
 * Ends find their begins, kinds are given, tracks and processes get names and
 * counts, the file's own metadata is understood. Afterwards the trace is read-only
 * but for derive/.
 *
 * Threading: one call per trace; uses threads inside.
 */
#ifndef OSC_IMPORT_BUILD_SEAL_H
#define OSC_IMPORT_BUILD_SEAL_H

#include "model/trace.h"

OSC_MUST_USE osc_status osc_trace_seal(struct osc_trace *t, unsigned n_threads);

#endif
