/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/thread/losses.h"

#include "recorder/live/blocks.h"

/* All atomics here are relaxed: the numbers are independent. */
static uint64_t lost_without[OSC_LOSS_COUNT]; /* by threads without an entry */
static uint64_t lost_before[OSC_LOSS_COUNT];  /* in entries, by threads that have ended */

void osc_losses_add(enum osc_loss cause, uint64_t n)
{
    __atomic_add_fetch(&lost_without[cause], n, __ATOMIC_RELAXED);
}

void osc_losses_keep(const struct osc_live_thread *entry)
{
    for (uint32_t cause = 0; cause < OSC_LOSS_COUNT; cause++)
        __atomic_add_fetch(&lost_before[cause],
                           __atomic_load_n(&entry->lost[cause], __ATOMIC_RELAXED),
                           __ATOMIC_RELAXED);
}

void osc_losses_sum(uint64_t lost[OSC_LOSS_COUNT])
{
    const struct osc_live_header *h = osc_blocks_header();
    const struct osc_live_thread *t = osc_blocks_threads();
    /* acquire: pairs with the release in osc_threads_enter() */
    const uint32_t n = h ? __atomic_load_n(&h->n_threads, __ATOMIC_ACQUIRE) : 0;

    for (uint32_t cause = 0; cause < OSC_LOSS_COUNT; cause++) {
        lost[cause] = __atomic_load_n(&lost_without[cause], __ATOMIC_RELAXED) +
                      __atomic_load_n(&lost_before[cause], __ATOMIC_RELAXED);
        for (uint32_t i = 0; i < n; i++)
            lost[cause] += __atomic_load_n(&t[i].lost[cause], __ATOMIC_RELAXED);
    }
}

struct osc_losses osc_losses_of(const uint64_t lost[OSC_LOSS_COUNT])
{
    return (struct osc_losses){.full = lost[OSC_LOSS_FULL],
                               .too_big = lost[OSC_LOSS_TOO_BIG],
                               .nested = lost[OSC_LOSS_NESTED],
                               .late = lost[OSC_LOSS_LATE]};
}

void osc_losses_store(struct osc_live_header *h)
{
    for (uint32_t cause = 0; cause < OSC_LOSS_COUNT; cause++)
        __atomic_store_n(&h->lost[cause],
                         __atomic_load_n(&lost_without[cause], __ATOMIC_RELAXED),
                         __ATOMIC_RELAXED);
}

void osc_losses_reset(void)
{
    for (uint32_t cause = 0; cause < OSC_LOSS_COUNT; cause++) {
        __atomic_store_n(&lost_without[cause], 0, __ATOMIC_RELAXED);
        __atomic_store_n(&lost_before[cause], 0, __ATOMIC_RELAXED);
    }
}
