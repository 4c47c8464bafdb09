/* SPDX-License-Identifier: Apache-2.0 */
/*
 * enabled.h - what torch's own code is told when it asks whether it profiles.
 *
 * A torch.autograd.Function hands its inputs to those who record only if torch's profiler
 * does, and wants shapes. While ours wants them, the answer is yes.
 *
 * Threading: answer_for_torch() from one thread at a time; torch asks from any.
 */
#pragma once

namespace osc_torch
{

/* From now on, once a process. In a torch that asks otherwise, nothing happens. */
void answer_for_torch();

/* Of recorder.cpp: whether inputs of what this thread does are recorded now. */
bool wants_shapes();

} // namespace osc_torch
