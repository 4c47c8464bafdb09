/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cupti_work.h - report one record of work: kernels, copies, sets, and waits.
 *
 * Names and arguments are those of Kineto's traces, so that tables of both are equal. Work
 * whose times were not taken is counted instead.
 *
 * Threading: thread-safe.
 */
#pragma once

#include <stdint.h>

void osc_cupti_read_kernel(const uint8_t *record);
void osc_cupti_read_copy(const uint8_t *record);
void osc_cupti_read_peer_copy(const uint8_t *record); /* between devices */
void osc_cupti_read_set(const uint8_t *record);
void osc_cupti_read_sync(const uint8_t *record);
