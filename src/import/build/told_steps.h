/* SPDX-License-Identifier: Apache-2.0 */
/*
 * told_steps.h - read when steps begin and end from the member of a file that says it.
 *
 * Opscope writes it into files of some steps of a trace (export/said_steps.h).
 *
 * Threading: not locked.
 */
#pragma once

#include "base/status.h"
#include "model/trace.h"

/* Set the bounds that T carries to what its member says. A member that cannot be true, or is
 * written in another way, is as none. */
OSC_MUST_USE osc_status osc_told_steps_read(struct osc_trace *t);
