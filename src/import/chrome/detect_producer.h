/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detect_producer.h - which program wrote a Chrome trace.
 *
 * Hardly any says so. What tells are members beside the events, categories, and names of
 * processes, threads and events that one producer alone uses: a rule for each is in
 * detect_producer.c.
 *
 * Threading: pure function.
 */
#pragma once

#include "model/trace.h"

/* The producer of T, whose names of processes and threads are read; UNKNOWN: nothing tells. */
enum osc_producer osc_detect_producer(const struct osc_trace *t);
