/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_devices.h - the devices and queues that producers have told of.
 *
 * They outlast a recording: each recording, and that of a child by fork, is told of all
 * of them when it begins.
 *
 * Threading: any thread.
 */
#pragma once

/* Record all that is known, for a recording that has just begun. */
void osc_devices_record(void);
