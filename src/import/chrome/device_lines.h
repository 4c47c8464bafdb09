/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_lines.h - device work of traces that have no categories for it.
 *
 * Kineto's categories say what an event is. XLA, TensorFlow, Ascend's msprof, rocprof and
 * others say it by the names of processes and threads: a thread is a line of the picture, and a
 * line holds kernels, or copies, or ranges drawn over kernels; where nothing has a name, as on
 * MindSpore's timeline, its rows tell. The dialect of the producer (model/producer.h) tells
 * which:
 *
 *   work      kernels, copies and memsets; the only lines whose time counts as device work
 *   marks     modules, steps, scopes and whatever else repeats the time of work on the same
 *             device: annotations of the device
 *   summary   a second view of lines of the same file, for example all streams in one: no
 *             thread and no queue
 *   calls     calls of the runtime or the driver, which launch work
 *
 * So the time of a queue counts once. A row of such a line gets a form of its own, with the
 * kind that the line implies. The raw category stays.
 *
 * Threading: not locked.
 */
#pragma once

#include "model/trace.h"

/*
 * Set kinds and forms of the rows of T, the devices of its queues, and which tracks are no
 * threads. T has kinds by category, names of tracks, and a producer.
 */
OSC_MUST_USE osc_status osc_device_lines_fit(struct osc_trace *t);

/* Set which arrows of T, whose forms say what its file did, launch work, and where they end. */
void osc_device_lines_fit_arrows(struct osc_trace *t);
