/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cupti_records.h - report what the records in a buffer say.
 *
 * Devices and contexts are told once, so they are read even while nothing records.
 *
 * Threading: thread-safe.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Report the records in the VALID bytes of BUFFER. */
void osc_cupti_read_buffer(uint8_t *buffer, size_t valid);
