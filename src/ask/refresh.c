/* SPDX-License-Identifier: Apache-2.0 */
#include "ask/refresh.h"

#include <string.h>

#include "ask/files/held.h"

/* Whether A and B have the same traces and the same notes, and left out as much. */
static bool is_equal(const struct osc_loaded *a, const struct osc_loaded *b)
{
    if (memcmp(a->files.left.by_why, b->files.left.by_why, sizeof a->files.left.by_why) != 0)
        return false;
    if (a->is_visited || a->n_traces != b->n_traces || a->notes.len != b->notes.len)
        return false;
    if (a->notes.len > 0 && memcmp(a->notes.s, b->notes.s, a->notes.len) != 0)
        return false;
    return memcmp(a->traces, b->traces, a->n_traces * sizeof(struct osc_trace *)) == 0;
}

static bool is_among(const struct osc_trace *t, const struct osc_loaded *l)
{
    const struct osc_held *const h = (const struct osc_held *)t;

    for (uint32_t i = 0; i < l->n_traces; i++) {
        const struct osc_held *const other = (const struct osc_held *)l->traces[i];

        if ((h->original ? h->original : h) == (other->original ? other->original : other))
            return true;
    }
    return false;
}

/* Whether a trace that L has read, and that BEFORE lacks, is incomplete for lack of memory. */
static bool is_cut_short(const struct osc_loaded *l, const struct osc_loaded *before)
{
    bool is_cut = l->n_unread > 0;

    for (uint32_t i = 0; i < l->n_traces && !is_cut; i++) {
        const struct osc_trace *const t = l->traces[i];

        is_cut = t->is_partial && t->findings.by_code[OSC_FINDING_limit_reached].count > 0 &&
                 !is_among(t, before);
    }
    return is_cut;
}

/* The number of traces that L has, or that a visitor got. */
static uint32_t count_traces(const struct osc_loaded *l)
{
    return l->is_visited ? l->n_read : l->n_traces;
}

osc_status osc_refresh(struct osc_loaded *l, const struct osc_refreshing *r,
                       struct osc_changes *changes, bool *is_same, struct osc_err *err)
{
    const uint32_t n_before = count_traces(r->before);
    struct osc_load load = *r->load;
    osc_status st = OSC_OK;

    *is_same = false;
    if (r->has_all && !load.visitor) /* with a visitor no traces were kept */
        load.before = r->before;
    else
        st = osc_loaded_is_current(r->before, &load, is_same);
    if (*is_same)
        changes->n_kept = n_before;
    if (st != OSC_OK || *is_same)
        return st;
    st = osc_load(l, &load, err);
    if (st != OSC_OK)
        return st;
    if (is_cut_short(l, r->before))
        return osc_fail(err, OSC_ELIMIT,
                        "memory limit reached while reading what has changed; the set is as it "
                        "was");
    *changes = (struct osc_changes){.n_kept = l->n_kept,
                                    .n_read = count_traces(l) - l->n_kept,
                                    .n_gone = n_before - l->n_kept};
    *is_same = is_equal(l, r->before);
    return OSC_OK;
}
