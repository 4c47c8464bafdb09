/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read_step_bounds.h - read when steps begin and end, and what else ran in them, from the
 * members of a file that say it.
 *
 * Opscope writes it into files of some steps of a trace (export/write_step_bounds.h).
 *
 * Threading: not locked.
 */
#pragma once

#include "base/status.h"
#include "model/trace.h"

/* Set the bounds that T carries, and what else ran in these steps, to what its members say. A
 * member that cannot be true, or is written in another way, is as none. */
OSC_MUST_USE osc_status osc_read_step_bounds(struct osc_trace *t);
