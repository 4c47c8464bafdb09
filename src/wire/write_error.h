/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write_error.h - what the write_error of a recording says: see osc_wire_end and
 * osc_live_header.
 *
 * Threading: pure functions.
 */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

/* The disk, or what this user or this process may write, is full. */
static inline bool osc_write_error_is_full(uint32_t error)
{
    return error == ENOSPC || error == EDQUOT || error == EFBIG;
}

/* No write failed: somebody removed, moved or cut the file, to which the recorder gives these
 * numbers. See osc_parts_look(). */
static inline bool osc_write_error_is_harm(uint32_t error)
{
    return error == ENOENT || error == ESTALE || error == ENODATA;
}
