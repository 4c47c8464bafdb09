/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_devices.h - the devices and queues that producers have added.
 *
 * They outlive a recording: every recording, also that of a forked child, gets all of them when
 * it begins.
 *
 * Threading: any thread.
 */
#pragma once

/* The recording ends, or a window begins: work of the launches so far is in no later one. */
void osc_launches_end(void);

/* Record all devices and queues, for a recording that has just begun. */
void osc_devices_record(void);
