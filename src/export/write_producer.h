/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write_producer.h - a member of the file that says who wrote the trace.
 *
 * Hardly any program says so: it is told by names, categories and arguments
 * (import/chrome/detect_producer.h), which a part of a trace, or a redacted one, may not have
 * any more. The member OSC_PRODUCER_MEMBER keeps what was told.
 *
 * Threading: not locked.
 */
#pragma once

#include "base/status.h"
#include "model/trace.h"

/*
 * Add the member to T, which is about to be exported, unless it has it or needs none: files of
 * Kineto keep their categories, recordings say what they are.
 */
OSC_MUST_USE osc_status osc_write_producer(struct osc_trace *t);
