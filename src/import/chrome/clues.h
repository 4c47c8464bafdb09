/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clues.h - which program wrote a Chrome trace.
 *
 * Hardly any says so. What tells are members beside the events, categories, and names of
 * processes, threads and events that one producer alone uses: a rule for each is in clues.c.
 *
 * Threading: pure function.
 */
#pragma once

#include "model/trace.h"

/* The producer of T, whose names of processes and threads are read; UNKNOWN: nothing tells. */
enum osc_producer osc_clues_producer(const struct osc_trace *t);
