/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chrome_about.h - what a Chrome trace says about its tracks, devices and times.
 *
 * Names of threads and processes are in metadata records. A queue is a track with device
 * work. Its device is an argument of that work, or its pid; the family of devices follows from
 * category and names of the calls that drive them. Kineto lists the devices of the machine in a
 * member `deviceProperties` beside the events: CUDA and ROCm differ in some members, old files
 * have fewer members, and files of CPU runs have an empty list.
 *
 * Threading: not locked.
 */
#pragma once

#include "model/trace.h"

/* Read names of processes and threads from the metadata records of T, without blanks at their
 * ends, which ROCm's names of streams have;
 * and which tracks are queues, from those that are an OSC_QUEUE_RECORD. */
OSC_MUST_USE osc_status osc_chrome_names(struct osc_trace *t);

/* Fill the queues and devices of T, whose tracks are counted and forms have kinds. */
OSC_MUST_USE osc_status osc_chrome_about(struct osc_trace *t);
