/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/flusher/loss_watch.h"

#include "recorder/thread/losses.h"

#define SECOND INT64_C(1000000000)

/* The losses until now; returns their sum. */
static uint64_t get(struct osc_losses *losses)
{
    uint64_t lost[OSC_LOSS_COUNT], n = 0;

    osc_losses_sum(lost);
    *losses = osc_losses_of(lost);
    for (uint32_t cause = 0; cause < OSC_LOSS_COUNT; cause++)
        n += lost[cause];
    return n;
}

void osc_loss_watch_look(struct osc_loss_watch *w, int64_t now_ns)
{
    struct osc_losses losses;

    if (!w->lost || (w->n_told > 0 && now_ns - w->told_ns < SECOND))
        return;
    const uint64_t n = get(&losses);
    if (n <= w->n_told)
        return;
    w->n_told = n;
    w->told_ns = now_ns;
    w->lost(w->ctx, &losses);
}

void osc_loss_watch_end(struct osc_loss_watch *w)
{
    struct osc_losses losses;

    if (w->lost && get(&losses) > 0)
        w->lost(w->ctx, &losses);
}
