/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame.h - the rows of an answer as contiguous columns (opscope/trace.h).
 *
 * Results come in batches, in an order beside them, of several ranks: programs get one
 * array for each column. A frame owns all that it shows; who takes an Arrow array of it
 * (arrow.c) holds it.
 *
 * Threading: made by one thread; then it never changes but for the count of holders.
 */
#pragma once

#include "ask/asked.h"
#include "base/hash.h"
#include "opscope/trace.h"

/* Take all rows of K, asked, which rest on FILES, into a new frame. *F is NULL after a
 * failure. */
OSC_MUST_USE osc_status osc_frame_make(struct osc_frame **f, struct osc_asked *k,
                                       const struct osc_digest *files, struct osc_err *err);
