/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sentences.h - what changed from one run to another, as sentences to act on.
 *
 * Tables tell the change of each name alone. But where a program runs one operator instead of
 * another, one row falls and another one grows, and neither says why. So the operators that
 * only one run has are joined at the innermost operator around them that both have, and the
 * sentence begins with the outermost operator that always leads there:
 *
 *   aten::conv2d +101 ms a step: aten::_slow_conv2d_forward instead of aten::mkldnn_convolution
 *
 * Threading: not locked.
 */
#pragma once

#include "analysis/diff/change.h"
#include "base/strbuf.h"
#include "table/table.h"

/* The finished tables of a comparison, and the digests of who calls whom. */
struct osc_diff_tables {
    const struct osc_result *steps, *operators, *kernels;
    const struct osc_result *calls[2]; /* of the base and of the new run */
};

/* Append sentences, one per line, what changed most first. Names of kernels are folded; of
 * two that differ in a sentence, so that they do there. */
OSC_MUST_USE osc_status osc_diff_sentences(const struct osc_diff_tables *t,
                                           struct osc_strbuf *out);

/* Append "31.2 ms instead of 30.1 ms a step (+1.1 ms, +3.7 %), significant". */
void osc_diff_say_change(struct osc_strbuf *out, const struct osc_change *c);

extern const struct osc_prose osc_sentences_prose;
