/* SPDX-License-Identifier: Apache-2.0 */
#include "ask/drawing.h"

#include "ask/set_state.h"
#include "base/mem.h"
#include "derive/derive.h"
#include "names/symbol.h"

#define FACTS (OSC_FACT_FOREST | OSC_FACT_LINKS | OSC_FACT_ALLOCATIONS | OSC_FACT_LOADS)

/* Make the timeline of S, a state of SET, in the account of SET. */
static osc_status make(struct osc_set *set, struct osc_set_state *s, struct osc_err *err)
{
    const struct osc_loaded *const l = &s->loaded;
    const struct osc_chosen *const c = &s->chosen;
    struct osc_timeline *const tl = osc_calloc(1, sizeof *tl);
    osc_status st = tl ? OSC_OK : OSC_ENOMEM;
    struct osc_digest files;
    uint32_t n_read = 0;

    if (st == OSC_OK)
        st = osc_chosen_digest(c, l, &files);
    if (st == OSC_OK)
        st = osc_chosen_derive(c, l, FACTS, set->how.n_threads, err);
    for (; n_read < c->n_traces && st == OSC_OK; n_read++)
        osc_trace_read(c->traces[n_read]);
    if (st == OSC_OK)
        st = osc_timeline_make(tl, (const struct osc_trace *const *)c->traces, c->n_traces,
                               set->how.n_threads);
    while (n_read > 0)
        osc_trace_read_end(c->traces[--n_read]);
    if (st == OSC_OK) {
        s->timeline = tl;
        osc_fingerprint_text(s->fingerprint, &files);
    } else {
        osc_free(tl);
    }
    return osc_loaded_fail(l, NULL, osc_mem_reason(st), "laying out the timeline", err);
}

osc_status osc_drawing_begin(struct osc_drawing *d, struct osc_set *set, struct osc_err *err)
{
    struct osc_set_state *const s = osc_set_use_state(set);
    osc_status st = OSC_OK;

    *d = (struct osc_drawing){.set = set, .state = s};
    if (s->loaded.is_visited) {
        st = osc_fail(err, OSC_EINVAL, "the set keeps no traces to draw");
    } else {
        pthread_mutex_lock(&set->drawing);
        if (!s->timeline) {
            struct osc_mem_account *const before = osc_mem_enter(&set->account);
            st = make(set, s, err);
            osc_mem_enter(before);
        }
        d->timeline = s->timeline;
        d->fingerprint = s->fingerprint;
        pthread_mutex_unlock(&set->drawing);
    }
    if (st != OSC_OK)
        osc_drawing_end(d);
    return st;
}

/* Make the labels of block B of the names of S. */
static osc_status make_labels(struct osc_set_state *s, uint32_t b, struct osc_err *err)
{
    struct osc_labels *const labels = &s->labels[b];
    const uint32_t first = b * OSC_DRAWING_TOLD, n = osc_timeline_names(s->timeline);
    const uint32_t end = n - first < OSC_DRAWING_TOLD ? n : first + OSC_DRAWING_TOLD;
    osc_status st = OSC_OK;

    for (uint32_t i = first; i < end && st == OSC_OK; i++) {
        const struct osc_str name = osc_timeline_name(s->timeline, i);
        osc_sid id;

        if (osc_symbol_is_function(name))
            st = osc_labels_add(labels, name, true, &id);
    }
    if (st == OSC_OK)
        st = osc_labels_compose(labels, OSC_LABELS_WIDTH, OSC_LABELS_WIDTH);
    if (st != OSC_OK)
        osc_labels_fini(labels);
    return osc_loaded_fail(&s->loaded, NULL, osc_mem_reason(st), "shortening names", err);
}

/* Make room for all blocks of labels of S. */
static osc_status make_blocks(struct osc_set_state *s)
{
    const uint32_t n = osc_timeline_names(s->timeline) / OSC_DRAWING_TOLD + 1;

    s->labels = osc_calloc(n, sizeof *s->labels);
    s->n_labels = s->labels ? n : 0;
    return s->labels ? OSC_OK : OSC_ENOMEM;
}

osc_status osc_drawing_labels(const struct osc_drawing *d, uint32_t name,
                              const struct osc_labels **labels, struct osc_err *err)
{
    const uint32_t b = name / OSC_DRAWING_TOLD;
    struct osc_set_state *const s = d->state;
    osc_status st = OSC_OK;

    pthread_mutex_lock(&d->set->naming);
    struct osc_mem_account *const before = osc_mem_enter(&d->set->account);
    if (!s->labels)
        st = osc_loaded_fail(&s->loaded, NULL, make_blocks(s), "shortening names", err);
    if (st == OSC_OK && !s->labels[b].at)
        st = make_labels(s, b, err);
    osc_mem_enter(before);
    *labels = st == OSC_OK ? &s->labels[b] : NULL;
    pthread_mutex_unlock(&d->set->naming);
    return st;
}

void osc_drawing_end(struct osc_drawing *d)
{
    if (d->state)
        osc_set_unuse_state(d->set, d->state);
    *d = (struct osc_drawing){0};
}
