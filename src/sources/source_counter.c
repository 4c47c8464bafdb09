/* SPDX-License-Identifier: Apache-2.0 */
#include "sources/source_counter.h"

#include "opscope/record.h"

#define COUNT_BITS 40u
#define COUNT_MAX  (((uint64_t)1 << COUNT_BITS) - 1)

void osc_source_counter_add(struct osc_source_counter *c, uint64_t more)
{
    if (!osc_is_on())
        return;
    const uint64_t number = osc_recording_number() << COUNT_BITS;
    /* Relaxed: a count. */
    uint64_t before = atomic_load_explicit(&c->state, memory_order_relaxed), n;

    do {
        const uint64_t of = before & ~COUNT_MAX;

        /* What was counted while a recording was still to come is in it. */
        n = (of == number || of == 0 ? before & COUNT_MAX : 0) + more;
        n = n < COUNT_MAX ? n : COUNT_MAX;
    } while (!atomic_compare_exchange_weak_explicit(
        &c->state, &before, number | n, memory_order_relaxed, memory_order_relaxed));
    osc_counter_total(osc_name_c(c->text), (int64_t)n);
}
