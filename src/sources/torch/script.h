/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script.h - where in TorchScript an operator is, in torch.profiler's form.
 *
 * Names are built for each operator that TorchScript runs; otherwise a call only reads a
 * thread-local variable. It calls the same functions as torch's own profiler; torch exports
 * them without promising to keep them.
 *
 * Threading: any thread, about itself.
 */
#pragma once

#include "opscope/record.h"

namespace osc_torch
{

/* The running lines of TorchScript, innermost first, each followed by a semicolon; 0: none. */
osc_name script_stack();

/* The modules whose methods run, outermost first, each followed by a dot; 0: none. */
osc_name script_modules();

} // namespace osc_torch
