/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chrome_about.h - what a Chrome trace says about its tracks, devices and times.
 *
 * Names of threads and processes are metadata records. A queue is a track with device
 * work; its device is an argument of that, or its pid, and the family of devices is told
 * by the category of the calls that drive them. Kineto lists the devices of the machine
 * as a member `deviceProperties` beside the events: CUDA and ROCm differ in some members,
 * old files have fewer, those of CPUs an empty list.
 *
 * Threading: not locked.
 */
#pragma once

#include "model/trace.h"

/* Fill all that of T, whose tracks are counted and whose forms have kinds. */
OSC_MUST_USE osc_status osc_chrome_about(struct osc_trace *t);

/* The devices alone, from the member of T. */
OSC_MUST_USE osc_status osc_chrome_devices(struct osc_trace *t);

/*
 * The other way round: what the devices and the base of times of T, which is of another
 * format, are as members of a Chrome trace, for `info` and for exports.
 */
OSC_MUST_USE osc_status osc_chrome_add_members(struct osc_trace *t);
