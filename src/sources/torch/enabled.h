/* SPDX-License-Identifier: Apache-2.0 */
/*
 * enabled.h - our answer when torch's own code asks whether it is being profiled.
 *
 * A torch.autograd.Function passes its inputs to callbacks only if torch's profiler runs and
 * records shapes. While our recorder wants shapes, the answer is yes.
 *
 * Threading: answer_for_torch() from one thread at a time; torch asks from any.
 */
#pragma once

namespace osc_torch
{

/* Install the answer; once per process. No effect if this torch asks in another way. */
void answer_for_torch();

/* In recorder.cpp: whether inputs of the calling thread's operators are recorded now. */
bool wants_shapes();

} // namespace osc_torch
