/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spans.h - which files are one recording window of their rank.
 *
 *   WORKER.NUMBER files     the numbers of a worker of a rank in order, from 1
 *   recordings              those of processes of one run that overlap in time
 *   pieces                  those into which profiles of the program divide a recording
 *   empty recordings        belong to the first window of their run, if it has one
 *   other files             each by itself, in order of the operands
 *
 * Threading: pure functions.
 */
#pragma once

#include "base/status.h"
#include "import/build/filename.h"
#include "model/identity.h"

/* Whether A and B are of known processes of one host and cover a common time. */
bool osc_spans_overlap(const struct osc_identity *a, const struct osc_identity *b);

/* Set the span of each of the N files at IDS, with NAMES, and whether its span has
 * steps; their ranks and bases are known. */
OSC_MUST_USE osc_status osc_spans_number(struct osc_identity *const *ids,
                                         const struct osc_filename *names, uint32_t n);
