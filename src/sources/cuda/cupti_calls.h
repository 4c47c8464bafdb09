/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cupti_calls.h - the calls of programs, recorded where they happen.
 *
 * A call lies in the operator that made it, for it is recorded on its thread. Its correlation
 * id leads to the number of the launch, until records of the work arrive, on any thread and
 * much later.
 *
 * Threading: thread-safe, without locks.
 */
#pragma once

#include <stdint.h>

/* Forget the calls that are under way: from now on others are reported. */
void osc_cupti_calls_begin(void);

/* What CUPTI calls at both ends of each call. */
void osc_cupti_on_call(void *user, int domain, uint32_t call, const void *data);

/* A launch whose work is not recorded: nothing recorded its call, or the runtime that made it
 * reports its own work. */
#define OSC_CUPTI_OF_NONE ((UINT64_C(1) << 52) - 1)

/* The launch of CORRELATION; 0: it is not known, or was long ago. */
uint64_t osc_cupti_launch_of(uint32_t correlation);
