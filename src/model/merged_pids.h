/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merged_pids.h - ranks whose traces a program merged into one.
 *
 * SGLang's merger writes the rank in brackets before each pid: "[TP00] 900" of the host, and
 * "[TP00] 0" or "[TP00][EP00] 0" of a device; others write "rank0_900" or "rank0:900". Ids, and
 * numbers of devices, are those of each rank: what is equal in two ranks is not the same.
 *
 * Threading: pure functions.
 */
#pragma once

#include "base/status.h"
#include "model/trace.h"

/* The rank in PID, as "TP00" of "[TP00] 900" and "rank0" of "rank0_900"; empty: there is none.
 */
struct osc_str osc_merged_rank(struct osc_str pid);

/*
 * Set *RANKS to an array, which the caller frees, of a number for each process of T, and of the
 * one more for rows without a process: equal numbers are the same rank. NULL: no pid has one.
 */
OSC_MUST_USE osc_status osc_merged_ranks(const struct osc_trace *t, uint32_t **ranks);
