/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rocm_device_numbers.h - the numbers of ROCm's devices.
 *
 * Kineto on ROCm gives device work the number of an agent of the HSA runtime, which counts the
 * processors of the host first. Memory records, properties and programs count only the GPUs.
 * So the GPU that programs call 0 is 2 on a host with two processors. Newer versions give the
 * work the number of programs, too, and no trace says which of the two it has.
 *
 * Threading: not locked.
 */
#pragma once

#include "model/trace.h"

/*
 * Name the devices of T's queues as programs do. The agents are a number of places behind the
 * devices, the same for all. If only one such number puts each device with work among the
 * devices with properties, and agrees with those that have memory records, it is the right
 * one. If several do, the names stay and device_unmatched is reported. T's devices are read. A
 * part of a trace says the number itself.
 */
OSC_MUST_USE osc_status osc_rocm_device_numbers_match(struct osc_trace *t);

/*
 * Whether T is a part of a trace, which says in OSC_DEVICES_MEMBER what the numbers of its
 * devices mean: set *FAMILY, and *PLACES that they are above those of programs.
 */
bool osc_rocm_device_numbers_read(const struct osc_trace *t, struct osc_str *family,
                                  unsigned *places);
