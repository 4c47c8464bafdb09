/* SPDX-License-Identifier: Apache-2.0 */
/*
 * questions.h - what the page may ask, and the answers, packed.
 *
 * The key of an answer is the target of its request below the root of the interface, without
 * offset and limit, its options in order of their names:
 * "table/operators?group-by=shape&merge=1". Where an answer is that to another key but for its
 * command, it is kept as
 *
 *     same?KEY     the other key, a line feed, the command
 *
 * `about` has what is reduced (JSON): {"rows": most of a table, "quantum_ns": of the finest
 * cells, "levels": how many, "is_complete": no ranges are merged}.
 *
 * Threading: one thread.
 */
#pragma once

#include "page/page_plan.h"

struct osc_api;
struct osc_pack;

/* Ask API all that fits into MOST bytes of P about the set of PAGE. */
OSC_MUST_USE osc_status osc_questions_ask(const struct osc_page *page, struct osc_api *api,
                                          struct osc_pack *p, size_t most, struct osc_err *err);
