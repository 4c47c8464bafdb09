/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peak.h - the most memory that a piece of code holds.
 *
 * Threading: code that runs in this thread, and in threads that it makes by base/thread.h.
 */
#pragma once

#include <stdatomic.h>

#include "base/mem.h"

struct peak {
    struct osc_mem_account account; /* charged between peak_begin() and peak_end() */
    struct osc_mem_account *before; /* borrowed */
};

static inline void peak_begin(struct peak *p)
{
    *p = (struct peak){0};
    p->before = osc_mem_enter(&p->account);
}

/* The most bytes that were held above those at peak_begin(). */
static inline size_t peak_end(struct peak *p)
{
    const int64_t most = atomic_load_explicit(&p->account.peak, memory_order_relaxed);

    (void)osc_mem_enter(p->before);
    osc_mem_account_end(&p->account);
    return (size_t)most;
}
