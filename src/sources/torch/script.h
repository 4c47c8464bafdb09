/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script.h - where in TorchScript an operator is, as torch.profiler tells it.
 *
 * Names are made anew for each operator that TorchScript runs; elsewhere the question
 * costs a look at a variable of the thread. The functions asked are those that torch's own
 * profiler asks, which torch exports and does not promise.
 *
 * Threading: any thread, of itself.
 */
#pragma once

#include "opscope/record.h"

namespace osc_torch
{

/* The lines of TorchScript that run, innermost first, each with a semicolon; 0: none do. */
osc_name script_stack();

/* The modules whose methods those are, outermost first, each with a dot; 0: there are none. */
osc_name script_modules();

} // namespace osc_torch
