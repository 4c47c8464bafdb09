/* SPDX-License-Identifier: Apache-2.0 */
#include "ask/set_state.h"

#include "base/mem.h"

void osc_set_free_seen(struct osc_set *set, struct osc_set_seen *s)
{
    if (!s)
        return;
    struct osc_mem_account *const before = osc_mem_enter(&set->account);
    osc_chosen_fini(&s->chosen);
    osc_strbuf_fini(&s->key);
    osc_free(s);
    osc_mem_enter(before);
}

void osc_set_free_state(struct osc_set *set, struct osc_set_state *s)
{
    if (!s)
        return;
    osc_set_free_seen(set, s->last);
    struct osc_mem_account *const before = osc_mem_enter(&set->account);
    if (s->timeline)
        osc_timeline_fini(s->timeline);
    osc_free(s->timeline);
    for (uint32_t b = 0; b < s->n_labels; b++)
        osc_labels_fini(&s->labels[b]);
    osc_free(s->labels);
    osc_chosen_fini(&s->chosen);
    osc_loaded_fini(&s->loaded);
    osc_free(s);
    osc_mem_enter(before);
}

struct osc_set_state *osc_set_use_state(struct osc_set *set)
{
    pthread_mutex_lock(&set->lock);
    struct osc_set_state *const s = set->now;
    s->n_users++;
    pthread_mutex_unlock(&set->lock);
    return s;
}

void osc_set_unuse_state(struct osc_set *set, struct osc_set_state *s)
{
    pthread_mutex_lock(&set->lock);
    const bool is_last = --s->n_users == 0;
    pthread_mutex_unlock(&set->lock);
    if (is_last)
        osc_set_free_state(set, s);
}
