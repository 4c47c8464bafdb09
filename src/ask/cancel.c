/* SPDX-License-Identifier: Apache-2.0 */
#include "ask/cancel.h"

#include <pthread.h>

struct osc_cancel {
    pthread_mutex_t lock; /* of is_pulled and first */
    bool is_pulled;
    struct osc_cancel_entry *first; /* borrowed; one for each question that is being answered */
};

struct osc_cancel *osc_cancel_new(void)
{
    struct osc_cancel *const c = osc_calloc(1, sizeof *c);

    if (c)
        pthread_mutex_init(&c->lock, NULL); /* cannot fail on Linux */
    return c;
}

void osc_cancel_free(struct osc_cancel *c)
{
    if (!c)
        return;
    pthread_mutex_destroy(&c->lock);
    osc_free(c);
}

void osc_cancel_pull(struct osc_cancel *c)
{
    pthread_mutex_lock(&c->lock);
    c->is_pulled = true;
    for (struct osc_cancel_entry *e = c->first; e; e = e->next)
        osc_mem_cancel(e->account);
    pthread_mutex_unlock(&c->lock);
}

void osc_cancel_join(struct osc_cancel *c, struct osc_cancel_entry *e)
{
    if (!c)
        return;
    pthread_mutex_lock(&c->lock);
    e->next = c->first;
    c->first = e;
    if (c->is_pulled)
        osc_mem_cancel(e->account);
    pthread_mutex_unlock(&c->lock);
}

void osc_cancel_leave(struct osc_cancel *c, struct osc_cancel_entry *e)
{
    if (!c)
        return;
    pthread_mutex_lock(&c->lock);
    for (struct osc_cancel_entry **at = &c->first; *at; at = &(*at)->next) {
        if (*at == e) {
            *at = e->next;
            break;
        }
    }
    pthread_mutex_unlock(&c->lock);
}
