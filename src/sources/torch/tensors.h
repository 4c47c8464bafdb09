/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tensors.h - the tensors that modules and optimizers of Python hold.
 *
 * Each becomes an argument of the innermost range, a list of the addresses of storages:
 * `Parameters` has two for each parameter, its own and that of its gradient, 0 if there is
 * none; `Optimizer state` one for each tensor that the optimizer keeps for its parameters.
 * `Parameters bytes` and `Optimizer state bytes` have the size of each, 0 if there is none.
 * Only objects of torch's own classes count, as in torch.
 *
 * Threading: with the interpreter's lock, in calls of our profile function.
 */
#pragma once

namespace osc_torch
{

struct Object; // interpreter.h

/* The parameters of MODULE itself, not those of modules in it. */
void put_module(Object *module);

/* The parameters of OPTIMIZER and what it keeps for them. */
void put_optimizer(Object *optimizer);

} // namespace osc_torch
