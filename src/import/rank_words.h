/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_words.h - ranks by the places of processes that names of files tell.
 *
 * Servers of models name files by the place of a process in each way of dividing the work:
 * "ID-TP-1-DP-0-EP-0.trace.json", "x_tp0_pp1.json". The sizes are unknown, so that only the
 * files of a run together tell ranks: the first of tp, dp, ep, pp and cp that is another one in
 * each place is the rank, and else the number of the place in their order.
 *
 * Threading: pure functions.
 */
#pragma once

#include <stdbool.h>

#include "base/status.h"
#include "model/identity.h"

/* Give those of the N files at IDS that have no rank one by such words in their names. */
OSC_MUST_USE osc_status osc_rank_words_apply(struct osc_identity *const *ids, uint32_t n);
