/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cupti_buffers.h - memory that CUPTI fills with records.
 *
 * It is mapped by the system, not taken from the program's allocator. Some buffers are kept
 * for the next request.
 *
 * Threading: thread-safe. The lock is held for a few stores, and never while CUPTI is called.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* This process is the one whose buffers are read. */
void osc_cupti_buffers_begin(void);

/* What CUPTI calls for an empty buffer, and with a full one. */
void osc_cupti_request_buffer(uint8_t **buffer, size_t *bytes, size_t *n_records);
void osc_cupti_complete_buffer(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
                               size_t valid_bytes);
