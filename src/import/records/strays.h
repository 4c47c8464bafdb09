/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strays.h - ends of scopes that are not the innermost of the thread that ends them (END_OF).
 *
 * Scopes of C++ that last across a co_await end on another thread, or before scopes that began
 * later on theirs. A BEGIN is known by its token, the low half of its time.
 *
 *   - One that is open on the thread of its end is marked as ended there; its row ends when
 *     those of the scopes in it have. A thread with hundreds of open scopes gets a map of them.
 *   - For others, all records must have been read first, as threads are read one by one.
 *
 * Threading: not locked.
 */
#pragma once

#include "import/records/records_state.h"

/* Whether TOKEN is that of the innermost open scope of T. */
static inline bool osc_strays_is_innermost(const struct osc_records_thread *t, uint32_t token)
{
    return t->depth > 0 && t->open[t->depth - 1].token == token;
}

/* T, which has a map of its open scopes (t->places), has opened one more. */
void osc_strays_opened(struct osc_records_rows *rows, struct osc_records_thread *t);

/* T ends the scope of TOKEN, which is not its innermost, at TS_NS. */
void osc_strays_add(struct osc_records_rows *rows, struct osc_records_thread *t, uint32_t token,
                    int64_t ts_ns);

/* All records are read: mark the open scopes of other threads that have ended, and count them.
 * An end of none of them is of a scope that began before the recording, or whose begin was
 * lost, which is counted. */
void osc_strays_end(struct osc_records_rows *rows);

void osc_strays_fini(struct osc_records_rows *rows);
