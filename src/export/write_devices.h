/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write_devices.h - a member of the file that says how its devices are called.
 *
 * Files of Kineto give work on a device a number alone. The family is told by calls and
 * categories, and on ROCm how that number becomes the one of programs by all devices together
 * (import/chrome/rocm_device_numbers.h). A part of a trace may have neither, nor any work;
 * records of memory are called after the family all the same. The member OSC_DEVICES_MEMBER
 * keeps what was told.
 *
 * Devices of ranks that were merged into one trace have numbers that follow from all of them,
 * too: the member lists those of its properties, and OSC_QUEUE_RECORD has that of each queue.
 *
 * Threading: not locked.
 */
#pragma once

#include "base/status.h"
#include "model/trace.h"

/* Add the member to T, which is about to be exported, unless it has it or its rows have the
 * names of devices. */
OSC_MUST_USE osc_status osc_write_devices(struct osc_trace *t);

/* Whether TRACK, which has events, is a queue of a merged rank and its device has another
 * number than that rank gave it. */
bool osc_write_devices_is_moved(const struct osc_trace *t, const struct osc_track *track);
