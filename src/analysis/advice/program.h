/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.h - what a trace shows of the program that sentences of `advice` must not get wrong:
 * its framework, its devices, and what it does already.
 *
 * Threading: not locked.
 */
#pragma once

#include "analysis/advice/advice_base.h"
#include "base/strbuf.h"

/*
 * Write words: the device if one did all the work, else its family or "-"; then those that
 * apply of torch, jax, tensorflow (the framework), functions, graphs, compile, fused, half,
 * buffers, workers (functions of the program were recorded; it launches graphs of kernels; some
 * come from a compiler of torch; its optimizers take several tensors at once; names of kernels
 * have a type of 16 bits; it broadcasts tensors packed into one, as DistributedDataParallel
 * does with buffers; all loaders of data have processes of their own).
 */
void osc_program_traits(const struct osc_advice_base *a, struct osc_strbuf *out);

/* Set *USES to whether kernels or inputs of operators are of a type of 16 bits. */
OSC_MUST_USE osc_status osc_program_uses_half(const struct osc_advice_base *a, bool *uses);

/* Whether NAME, of a kernel or of a type, says that values have 16 bits. */
bool osc_program_is_half(struct osc_str name);
