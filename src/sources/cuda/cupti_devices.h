/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cupti_devices.h - the devices and streams of CUDA, as devices and queues of the recorder.
 *
 * Device records come before the first work of a device. If one is lost, the device has no
 * limits, and its kernels no occupancy.
 *
 * Threading: thread-safe; nothing is ever removed.
 */
#pragma once

#include "sources/cuda/cupti_occupancy.h"

#define OSC_CUPTI_NO_STREAM UINT32_MAX /* what concerns a whole context */

/* Read a record of a device, and one of a context. */
void osc_cupti_device_read(const uint8_t *record);
void osc_cupti_context_read(const uint8_t *record);

/* The recorder's number of the device ID. */
uint32_t osc_cupti_device(uint32_t id);

/* The limits of the device ID; unknown ones are 0. */
const struct osc_cupti_limits *osc_cupti_device_limits(uint32_t id);

/* The device of CONTEXT; 0 if it is not known, which most often is right. */
uint32_t osc_cupti_device_of_context(uint32_t context);

/* The recorder's number of the stream STREAM of the device ID. */
uint32_t osc_cupti_queue(uint32_t id, uint32_t stream);

/* Call EACH with the recorder's number of each device. */
void osc_cupti_each_device(void (*each)(uint32_t number));
