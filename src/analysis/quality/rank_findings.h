/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_findings.h - rows of `quality` about ranks side by side.
 *
 *   missing_rank         a rank of distributedInfo.world_size, or else of the list of a group,
 *                        without a file; not if only some ranks were asked for
 *   collective_hang      for each group: a rank never reached a collective (expected.h)
 *   collective_lost      for each group: a rank has no record of one, but of a later one
 *   collective_mismatch  for each group: two ranks say different types or numbers of elements,
 *                        where all must send as much and numbers tell that it is one collective
 *   collective_outside   for each group: it is not in the recording of a rank
 *   uneven_steps         a rank has fewer steps than another one in the same span
 *   clocks_apart         ranks of several hosts share no collective that shows their clocks
 *
 * Those about collectives and steps are left out if a trace was read or selected in part.
 *
 * Threading: not locked.
 */
#pragma once

#include "analysis/ranks/rank_run.h"
#include "prose/phrase.h"

/* Add the rows about RUN to R. NAMES_RANKS: only some ranks were asked for. */
OSC_MUST_USE osc_status osc_rank_findings_add(struct osc_result *r,
                                              const struct osc_rank_run *run, bool names_ranks);

/* Their sentences. */
extern const struct osc_prose osc_rank_findings_prose;
